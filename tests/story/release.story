# Release, renewal and loss.

chapter release_with_old_token_changes_nothing
c1 open -> done
c1 acquire k -> granted T1
c1 release -> done
c1 acquire k -> granted T2
c1 release T1 -> not-held
key k held by c1
c1 renew -> stands

chapter a_second_release_says_not_held
c1 open -> done
c1 acquire k -> granted T1
c1 release -> done
c1 release -> not-held

chapter a_holder_that_renews_keeps_its_key
c1 open 6s -> done
c2 open -> done
c1 acquire k -> granted T1
pass 3s
c1 renew -> stands
pass 4s
c2 acquire k -> busy c1
c1 renew -> stands

chapter a_lapsed_holder_is_replaced_and_learns_it
c1 open 6s -> done
c1 acquire k -> granted T1
c1 job started -> done
pass 7s
c2 open -> done
c2 acquire k -> granted T2
c1 renew -> lost
c1 release -> not-held
T1 < T2
key k held by c2

chapter a_lapsed_holder_that_nobody_replaced_goes_on
c1 open 6s -> done
c1 acquire k -> granted T1
pass 20s
key k held by c1
c1 renew -> stands
c2 open -> done
c2 acquire k -> busy c1

chapter a_dead_tree_frees_the_key_at_once
c1 open 60s -> done
c1 acquire k -> granted T1
c1 dies
c2 open -> done
c2 acquire k -> granted T2
T1 < T2

chapter a_job_that_outlives_its_wrapper_keeps_the_key_until_the_lease_ends
c1 open 6s -> done
c1 acquire k -> granted T1
c1 job started -> done
c1 dies alone
c2 open -> done
c2 acquire k -> busy c1
pass 7s
c2 acquire k -> granted T2
T1 < T2

chapter release_works_when_nothing_can_be_put
c1 open -> done
c1 acquire k -> granted T1
fault no_space
c1 release -> done
c2 open -> failed nospace
calm
c2 open -> done
c2 acquire k -> granted T2

chapter release_works_without_space_though_somebody_waits
c1 open -> done
c1 acquire k -> granted T1
c2 open 60s -> done
c2 acquire k wait 30s -> waiting
fault no_space
c1 release -> done
calm
pass 2s
c2 hears -> granted T2
