# Answers that do not come, or come as "perhaps".

chapter an_unknown_grant_that_was_done_is_found
c1 open -> done
c1 acquire a -> granted T1
fault unknown_done 40000
c1 acquire k -> granted T2
calm
c1 renew -> stands
key k held by c1

chapter an_unknown_grant_that_was_not_done_is_asked_for_again
c1 open -> done
c1 acquire a -> granted T1
fault unknown_not 40000
c1 acquire k -> granted T2
calm
c1 renew -> stands

chapter a_late_grant_cannot_commit_once_it_was_settled
c1 open 60s -> done
c1 acquire a -> granted T9
fault unknown_late 50000
c1 acquire k -> granted T1
calm
pass 5s
c1 renew -> stands
c1 release -> done
pass 5s
key k held by nobody
c2 open -> done
c2 acquire k -> granted T2
T1 < T2

chapter a_release_that_came_back_unknown_is_settled_by_compare
c1 open -> done
c1 acquire k -> granted T1
fault unknown_done 40000
c1 release -> done
calm
key k held by nobody

chapter a_store_that_fails_keeps_a_waiter_waiting
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 30s -> waiting
fault failed
pass 5s
c2 hears -> silence
calm
c1 release -> done
pass 2s
c2 hears -> granted T2

chapter a_store_that_fails_is_not_busy
c1 open -> done
c1 acquire a -> granted T1
fault failed
c1 acquire k -> failed unavailable

chapter a_keepalive_that_lies_is_found_out_by_the_look
c1 open 6s -> done
c1 acquire k -> granted T1
c1 job started -> done
pass 7s
c2 open 60s -> done
c2 acquire k -> granted T2
fault keepalive_lies
c1 renew -> lost
