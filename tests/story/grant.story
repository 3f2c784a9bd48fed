# Grants: who gets a key, and at what cost.

chapter one_job_is_two_commits
c1 open -> done
commits 0
c1 acquire k -> granted T1
commits 2                      # the epoch record of a new store, and this
c1 release last -> done
commits 1
c1 close -> done
commits 0
c1 open -> done
c1 acquire k -> granted T2
c1 release last -> done
commits 2
T1 < T2

chapter a_losing_try_costs_no_commit_and_names_the_holder
c1 open -> done
c2 open -> done
c1 acquire k -> granted T1
commits 2
c2 acquire k -> busy c1 place 1
commits 0
c1 release -> done
c2 acquire k -> granted T2
T1 < T2

chapter keys_do_not_disturb_each_other
c1 open -> done
c2 open -> done
c1 acquire a -> granted T1
c2 acquire a/b -> granted T2
key a held by c1 waiting 0
key a/b held by c2 waiting 0

chapter shared_holds_stand_together_and_keep_an_exclusive_one_out
c1 open -> done
c2 open -> done
c3 open -> done
c1 acquire k shared -> granted T1
c2 acquire k shared -> granted T2
c3 acquire k -> busy c1
c1 release -> done
c3 acquire k -> busy c2
c2 release -> done
c3 acquire k -> granted T3
c1 acquire k shared -> busy c3
T1 < T2
T2 < T3

chapter a_session_that_is_closed_holds_nothing
c1 open -> done
c1 acquire k -> granted T1
c1 close -> done
c1 renew -> lost
c2 open -> done
c2 acquire k -> granted T2

chapter a_server_kind_of_store_is_read_before_it_is_tried
store server
c1 open -> done
c2 open -> done
c1 acquire k -> granted T1
commits 2
c2 acquire k -> busy c1
commits 0
