/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/utf8.h"

/* Between columns. */
enum { GAP = 2 };

void table_init(struct table *table, const struct table_column *columns)
{
    memset(table, 0, sizeof(*table));
    table->columns = columns;
    while (columns[table->column_count].title)
        table->column_count++;
    hf_assert(table->column_count <= TABLE_COLUMNS_MAX);
}

void table_clear(struct table *table)
{
    size_t i;

    for (i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    memset(table, 0, sizeof(*table));
}

void table_add(struct table *table, const char *text)
{
    struct hf_buf cell;

    if (table->failed)
        return;
    if (table->cell_count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 256;
        char **cells = NULL;

        if (table->cell_count < TABLE_ROWS_MAX * table->column_count)
            cells = realloc(table->cells, capacity * sizeof(*cells));
        if (!cells) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    hf_buf_init(&cell, 8192);
    if (hf_escape_add(&cell, text, strlen(text))) {
        hf_buf_clear(&cell);
        table->failed = true;
        return;
    }
    table->cells[table->cell_count++] = hf_buf_take(&cell);
}

size_t text_width(const char *text)
{
    size_t left = strlen(text);
    size_t width = 0;

    while (left > 0) {
        uint32_t code;
        size_t size = hf_utf8_read(text, left, &code);

        if (size == 0)
            size = 1;
        text += size;
        left -= size;
        width++;
    }
    return width;
}

struct layout {
    size_t widths[TABLE_COLUMNS_MAX];
    bool is_shown[TABLE_COLUMNS_MAX];
    size_t last; /* column shown */
};

static const char *cell_of(const struct table *table, size_t row, size_t column)
{
    const char *text = table->cells[row * table->column_count + column];

    /* hf_buf_take gives nothing for an empty text. */
    return text ? text : "";
}

static size_t total_of(const struct table *table, const struct layout *layout)
{
    size_t total = 0;
    size_t i;

    for (i = 0; i < table->column_count; i++) {
        if (layout->is_shown[i])
            total += layout->widths[i] + (total ? GAP : 0);
    }
    return total;
}

/* The column to leave out next, or column_count. */
static size_t least_missed(const struct table *table,
                           const struct layout *layout)
{
    size_t found = table->column_count;
    size_t i;

    for (i = 0; i < table->column_count; i++) {
        int drop = table->columns[i].drop;

        if (layout->is_shown[i] && drop > 0 &&
            (found == table->column_count || drop > table->columns[found].drop))
            found = i;
    }
    return found;
}

static void lay_out(const struct table *table, size_t rows, size_t width,
                    struct layout *layout)
{
    size_t i;
    size_t row;

    for (i = 0; i < table->column_count; i++) {
        size_t widest = 0;

        for (row = 0; row < rows; row++) {
            size_t cell = text_width(cell_of(table, row, i));

            if (cell > widest)
                widest = cell;
        }
        /* Where no row has anything there is no column. */
        layout->is_shown[i] = widest > 0;
        layout->widths[i] = widest;
        if (text_width(table->columns[i].title) > widest)
            layout->widths[i] = text_width(table->columns[i].title);
    }
    while (width && total_of(table, layout) > width) {
        i = least_missed(table, layout);
        if (i == table->column_count)
            break;
        layout->is_shown[i] = false;
    }
    layout->last = 0;
    for (i = 0; i < table->column_count; i++) {
        if (layout->is_shown[i])
            layout->last = i;
    }
}

static void pad(struct hf_buf *to, size_t count)
{
    while (count-- > 0)
        (void)hf_buf_add(to, " ", 1);
}

static void print_cell(const struct table *table, const struct layout *layout,
                       size_t column, const char *text, struct hf_buf *to)
{
    size_t missing = layout->widths[column] - text_width(text);

    if (table->columns[column].is_right)
        pad(to, missing);
    (void)hf_buf_add_str(to, text);
    if (column == layout->last)
        return;
    if (!table->columns[column].is_right)
        pad(to, missing);
    pad(to, GAP);
}

enum hf_err table_print(struct table *table, size_t width, bool is_bold,
                        struct hf_buf *to)
{
    size_t rows = table->cell_count / table->column_count;
    struct layout layout;
    size_t row;
    size_t i;

    if (table->failed)
        return HF_ERR_NOMEM;
    lay_out(table, rows, width, &layout);
    if (is_bold)
        (void)hf_buf_add_str(to, "\033[1m");
    for (i = 0; i < table->column_count; i++) {
        if (layout.is_shown[i])
            print_cell(table, &layout, i, table->columns[i].title, to);
    }
    if (is_bold)
        (void)hf_buf_add_str(to, "\033[0m");
    (void)hf_buf_add(to, "\n", 1);
    for (row = 0; row < rows; row++) {
        for (i = 0; i < table->column_count; i++) {
            if (layout.is_shown[i])
                print_cell(table, &layout, i, cell_of(table, row, i), to);
        }
        (void)hf_buf_add(to, "\n", 1);
    }
    return to->failed;
}

size_t terminal_width(void)
{
    const char *named = getenv("COLUMNS");
    struct winsize size;

    if (named && *named) {
        char *end;
        unsigned long columns = strtoul(named, &end, 10);

        if (*end == '\0' && columns > 0 && columns < 100000)
            return columns;
    }
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        return size.ws_col;
    return 0;
}

bool terminal_is_styled(void)
{
    const char *plain = getenv("NO_COLOR");
    const char *kind = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(plain && *plain) && kind && *kind &&
           strcmp(kind, "dumb") != 0;
}
