# Waiting: order, hand-off, leaving.

chapter the_key_is_handed_over_in_one_commit
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 30s -> waiting
commits 3
c1 release -> done
commits 1
c2 hears -> granted T2
commits 0
T1 < T2
c2 renew -> stands

chapter waiters_are_served_in_the_order_in_which_they_came
c1 open 60s -> done
c2 open 60s -> done
c3 open 60s -> done
c4 open 60s -> done
c1 acquire k -> granted T1
c3 acquire k wait 30s -> waiting
c2 acquire k wait 30s -> waiting
c4 acquire k wait 30s -> waiting
c1 release -> done
c3 hears -> granted T3
c2 hears -> silence
c3 release -> done
c2 hears -> granted T2
c2 release -> done
c4 hears -> granted T4
T3 < T2
T2 < T4

chapter a_try_never_passes_a_waiter
c1 open 60s -> done
c2 open 60s -> done
c3 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 30s -> waiting
c1 release -> done
c3 acquire k -> busy c2
c2 hears -> granted T2

chapter a_wait_that_ran_out_is_busy_and_leaves_no_trace
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 3s -> busy c1 place 1
key k held by c1 waiting 0
c1 release -> done
c3 open -> done
c3 acquire k -> granted T2

chapter a_waiter_that_leaves_makes_room
c1 open 60s -> done
c2 open 60s -> done
c3 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 30s -> waiting
c3 acquire k wait 30s -> waiting
c2 leaves -> done
key k held by c1 waiting 1
c1 release -> done
c3 hears -> granted T3

chapter a_dead_waiter_does_not_hold_up_the_queue
c1 open 60s -> done
c2 open 60s -> done
c3 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 50s -> waiting
c3 acquire k wait 50s -> waiting
c2 dies
c1 release -> done
pass 3s
c3 hears -> granted T3
T1 < T3

chapter a_crowd_of_dead_waiters_costs_one_look
c1 open 60s -> done
c2 open 60s -> done
c3 open 60s -> done
c4 open 60s -> done
c5 open 60s -> done
c6 open 60s -> done
c7 open 60s -> done
c8 open 60s -> done
c9 open 60s -> done
c10 open 60s -> done
c11 open 60s -> done
c12 open 60s -> done
c13 open 60s -> done
c14 open 60s -> done
c15 open 60s -> done
c16 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 50s -> waiting
c3 acquire k wait 50s -> waiting
c4 acquire k wait 50s -> waiting
c5 acquire k wait 50s -> waiting
c6 acquire k wait 50s -> waiting
c7 acquire k wait 50s -> waiting
c8 acquire k wait 50s -> waiting
c9 acquire k wait 50s -> waiting
c10 acquire k wait 50s -> waiting
c11 acquire k wait 50s -> waiting
c12 acquire k wait 50s -> waiting
c13 acquire k wait 50s -> waiting
c14 acquire k wait 50s -> waiting
c15 acquire k wait 50s -> waiting
c16 acquire k wait 50s -> waiting
c2 dies
c3 dies
c4 dies
c5 dies
c6 dies
c7 dies
c8 dies
c9 dies
c10 dies
c11 dies
c12 dies
c13 dies
c14 dies
c15 dies
c1 dies
pass 5s
c16 hears -> granted T16
T1 < T16

chapter a_dead_holder_is_replaced_by_the_waiter
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 50s -> waiting
c1 dies
pass 2s
c2 hears -> granted T2

chapter a_lost_wake_up_costs_a_second_not_the_key
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 30s -> waiting
fault watch_lost
c1 release -> done
pass 2s
c2 hears -> granted T2

chapter a_waiter_whose_session_lapsed_is_told
c1 open 60s -> done
c2 open 6s -> done
c3 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k wait 50s -> waiting
pass 10s
c1 release -> done
c3 acquire k wait 5s -> granted T3
pass 5s
c2 hears -> lost

chapter readers_that_keep_coming_do_not_starve_a_writer
c1 open 60s -> done
c2 open 60s -> done
c3 open 60s -> done
c1 acquire k shared -> granted T1
c2 acquire k wait 30s -> waiting
c3 acquire k shared -> busy c1
c1 release -> done
pass 2s
c2 hears -> granted T2

chapter waiting_readers_go_together
c1 open 60s -> done
c2 open 60s -> done
c3 open 60s -> done
c4 open 60s -> done
c1 acquire k -> granted T1
c2 acquire k shared wait 30s -> waiting
c3 acquire k shared wait 30s -> waiting
c4 acquire k wait 30s -> waiting
c1 release -> done
c2 hears -> granted T2
c3 hears -> granted T3
c4 hears -> silence
c2 release -> done
pass 2s
c4 hears -> silence
c3 release -> done
pass 2s
c4 hears -> granted T4
T3 < T4
