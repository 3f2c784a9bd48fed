# A key that is kept for a while, whatever becomes of its holder.

chapter a_kept_key_outlives_its_release
c1 open -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c1 keep 8s -> done
c1 release last -> done
c2 acquire k -> busy c0
c2 acquire k wait 30s -> granted T2
T1 < T2

chapter a_kept_key_outlives_its_holder
c1 open -> done
c1 acquire k -> granted T1
c1 keep 8s -> done
c1 dies
c2 open 60s -> done
c2 acquire k -> busy c0
pass 5s
c2 acquire k -> busy c0
pass 4s
c2 acquire k -> granted T2

chapter a_waiter_does_not_pass_the_floor
c1 open 60s -> done
c2 open 60s -> done
c1 acquire k -> granted T1
c1 keep 8s -> done
c2 acquire k wait 30s -> waiting
c1 release -> done
pass 5s
c2 hears -> silence
pass 5s
c2 hears -> granted T2

chapter only_who_holds_can_keep
c1 open -> done
c1 acquire k -> granted T1
c1 release last -> done
c1 keep 8s -> failed lost
c2 open -> done
c2 acquire k -> granted T2

chapter a_keep_that_came_back_unknown_is_asked_again
c1 open 60s -> done
c1 acquire k -> granted T1
fault unknown_done 30000
c1 keep 8s -> done
calm
c1 release last -> done
c2 open 60s -> done
c2 acquire k -> busy c0
