# The epoch and the seal.

chapter tokens_rise_over_an_advance
c1 open -> done
c1 acquire k -> granted T1
c2 advance now -> epoch 2
c1 renew -> lost
c1 open -> done
c1 acquire k -> granted T2
T1 < T2

chapter an_advance_waits_for_the_deadlines_of_the_former_life
c1 open 6s -> done
c1 acquire k -> granted T1
c2 advance -> epoch 2
c1 renew -> lost
c3 open -> done
c3 acquire k -> granted T2
T1 < T2

chapter tokens_rise_when_the_store_cannot_vouch_for_its_revisions
c1 open -> done
c1 acquire k -> granted T1
c1 release -> done
snapshot
c1 acquire k -> granted T2
c1 release -> done
restore epoch
c2 open -> done
c2 acquire k -> granted T3
T2 < T3

chapter tokens_rise_over_an_older_copy
c1 open -> done
snapshot
c1 acquire k -> granted T1
c1 release -> done
restore rising
c2 open -> done
c2 acquire k -> granted T2
T1 < T2

chapter a_new_life_of_a_local_store_gets_a_higher_epoch
c1 open -> done
c1 acquire k -> granted T1
snapshot
c1 release -> done
restore new-life
c2 open -> done
c1 close -> done
c2 acquire k -> granted T2
T1 < T2
