/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utc.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_S INT64_C(1000000000)
#define S_PER_DAY INT64_C(86400)

struct date {
    int64_t year;
    int month;
    int day;
};

/*
 * Gregorian date of a count of days since 1970-01-01. gmtime_r(3) would do, but
 * opens the time zone file first. Years are counted from 1 March, so that
 * the leap day is a year's last, in eras of 400 years, which are all alike.
 */
static struct date date_of(int64_t days)
{
    int64_t since_march_0 = days + 719468; /* 0000-03-01 */
    int64_t era =
        (since_march_0 >= 0 ? since_march_0 : since_march_0 - 146096) / 146097;
    int64_t day = since_march_0 - era * 146097; /* of the era */
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* 0 is March */

    return (struct date){
        .year = year + era * 400 + (month >= 10),
        .month = (int)(month >= 10 ? month - 9 : month + 3),
        .day = (int)(day_of_year - (153 * month + 2) / 5 + 1),
    };
}

struct hf_utc_text hf_utc_print(struct hf_wall wall, unsigned int digits)
{
    struct hf_utc_text out;
    char fraction[16] = "";
    int64_t seconds = wall.ns / NS_PER_S;
    int64_t ns = wall.ns % NS_PER_S;
    int64_t second;
    struct date date;

    if (ns < 0) {
        ns += NS_PER_S;
        seconds--;
    }
    second = seconds % S_PER_DAY;
    if (second < 0)
        second += S_PER_DAY;
    date = date_of((seconds - second) / S_PER_DAY);
    if (digits > 9)
        digits = 9;
    if (digits > 0) {
        snprintf(fraction, sizeof(fraction), ".%09" PRId64, ns);
        fraction[1 + digits] = '\0';
    }
    snprintf(out.text, sizeof(out.text), "%04d-%02d-%02dT%02d:%02d:%02d%sZ",
             (int)date.year, date.month, date.day, (int)(second / 3600),
             (int)(second / 60 % 60), (int)(second % 60), fraction);
    return out;
}
