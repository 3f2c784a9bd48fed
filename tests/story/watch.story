# Watching: what became of keys, with its cause.

chapter a_grant_and_its_release_are_told
c1 open 60s -> done
c9 watches
c1 acquire k -> granted T1
c9 sees granted c1
c1 release -> done
c9 sees released c1
pass 5s
c9 sees nothing

chapter a_hand_over_is_one_piece_of_news
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c9 watches
c2 acquire k wait 30s -> waiting
c9 sees queued c2
c1 release -> done
c2 hears -> granted T2
c9 sees handed-over c2

chapter shared_holders_that_follow_an_exclusive_one_are_told_behind_its_release
c1 open 60s -> done
c2 open 60s -> done
c3 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k shared wait 30s -> waiting
c3 acquire k shared wait 30s -> waiting
c9 watches
c1 release -> done
c2 hears -> granted T2
c3 hears -> granted T3
c9 sees released c1 handed-over c2 handed-over c3

chapter who_gives_up_waiting_is_told_apart_from_who_died_waiting
c1 open 60s -> done
c2 open 60s -> done
c3 open 60s -> done
c1 acquire k -> granted T1
c9 watches
c2 acquire k wait 30s -> waiting
c3 acquire k wait 30s -> waiting
c2 leaves -> done
c9 sees queued c2 queued c3 left c2
c3 close -> done
c9 sees wait-ended c3

chapter a_hold_that_ended_with_its_lease_is_no_release
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c9 watches
c1 dies
c2 acquire k -> granted T2
c9 sees ended c1 granted c2

chapter a_key_that_is_kept_is_told_and_that_it_is_free_again
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c9 watches
c1 keep 2s -> done
c1 release -> done
c9 sees kept c0 released c1
pass 3s
c2 acquire k -> granted T2
c9 sees freed c0 granted c2

chapter an_advance_of_the_epoch_says_that_it_was_one
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 30s -> waiting
c9 watches
c3 advance now -> epoch 2
c9 sees outdated c1 outdated c2

chapter one_key_is_watched_without_those_beside_it
c1 open 60s -> done
c2 open 60s -> done
c9 watches k
c1 acquire k2 -> granted T1
c9 sees nothing
c2 acquire k -> granted T2
c9 sees granted c2
c1 release -> done
c9 sees nothing

chapter a_renewal_is_no_news
c1 open 60s -> done
c1 acquire k -> granted T1
c9 watches
c1 renew -> stands
pass 2s
c9 sees nothing

chapter a_watch_costs_no_commit
c1 open 60s -> done
c1 acquire k -> granted T1
commits 2
c9 watches
pass 10s
commits 0
c1 release -> done
c9 sees released c1
commits 1

chapter a_store_that_went_back_says_that_news_were_missed
c1 open 60s -> done
c1 acquire k -> granted T1
snapshot
c9 watches
restore epoch
pass 2s
c9 sees missed
