# Completion of lockrun for fish, printed by "lockrun --dump=fish".
function __lockrun_operands
    set -l words (commandline -opc)
    set -l skips 0
    for word in $words[2..]
        if test $skips = 1
            set skips 0
        else if contains -- $word -w --wait --timeout -E --conflict-exit-code --jitter --nested --class --key --ttl --grace --hold-min --max-run --note --store -c --command --leftover --on-busy --on-doubt --on-lost --json-fd --explain
            set skips 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end
complete -c lockrun -x -a '(__fish_complete_subcommand -- -w --wait --timeout -E --conflict-exit-code --jitter --nested --class --key --ttl --grace --hold-min --max-run --note --store -c --command --leftover --on-busy --on-doubt --on-lost --json-fd --explain)'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -s n -l nonblock -l nb -d 'Do not wait: if somebody else holds the key, end with 75'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -s w -l wait -l timeout -x -d 'Wait at most TIME for the key, in turn: 90, 500ms, 1h30m, or forever, which is as long as the class allows (batch: 24h)'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l watch -d 'Wait like -w forever, and tell on standard error who holds the key: at the start, when that changes, and every minute'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -s s -l shared -d 'Hold the key together with others that ask for it shared; 77 where the class is exclusive'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -s x -s e -l exclusive -d 'Hold the key alone; the default'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -s E -l conflict-exit-code -x -d 'Exit status, 0 to 255, instead of 75 when the key is not to be had'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l skip -d 'When the key is not to be had, end with 0 and say nothing'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l jitter -x -d 'First wait a random time up to TIME, so that jobs of one minute do not start in one second; 1d at most'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l nested -x -a 'refuse join' -d 'What to do when the key is held by the lockrun that runs this very command: refuse ends with 64, the default; join runs the command under that hold, and in its mode'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l class -x -a '(lockctl complete classes (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)' -d 'The class of lock whose rules apply; batch by default'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l key -x -a '(lockctl complete keys (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)' -d 'The key, tenant/namespace/name, or a name alone, which means local/default/NAME'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l ttl -x -d 'How long the lease is good for when it is no longer renewed; batch has 1m, and allows 5s to 10m'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l grace -x -d 'How long a job that is ended is given between TERM and KILL: a quarter of the TTL by default, at most 10s'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l hold-min -x -d 'Let nobody have the key again, not even the same job, before TIME has passed since the grant, 1s to 24h, even if the job ends sooner or everything is killed, but not over a reboot; lockrun itself does not wait for it'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l max-run -x -d 'How long the job may run, counted from the grant: then it is asked to end, a grace later killed, and the exit status is 124'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l note -x -d 'What others are told who find the key taken; 200 bytes at most'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l store -r -F -d 'The store, sqlite:PATH, or a path; by default what HOLDFAST_STORE names, or else the store of this user'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -s c -l command -x -a '(__fish_complete_command)' -d 'Run LINE by the shell (SHELL, or /bin/sh) instead of a command'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l leftover -x -a 'wait kill leave' -d 'What to do about processes that live on when the command has ended: wait keeps the key until they are gone, the default; kill asks them to end (TERM) and kills them a grace later; leave lets go of them and gives the key back'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l on-busy -x -a '(__fish_complete_command)' -d 'Run LINE by /bin/sh when the key is not to be had, for 30s at most'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l on-doubt -x -a '(__fish_complete_command)' -d 'Run LINE when the lease could not be renewed, while that is tried on and the job runs'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l on-lost -x -a '(__fish_complete_command)' -d 'Run LINE after lockrun has ended the job, because the lease was lost or --max-run was over'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l json -d 'Tell what happens as JSON, an object a line, on standard error, and nothing else there'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l json-fd -x -d 'The same on descriptor N, which the job does not get; text stays on standard error'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l verbose -d 'Tell each step on standard error'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l dry-run -d 'Say what would be done and who holds the key, and change nothing'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -l explain -x -d 'Say what the exit status CODE means'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -s h -l help -d 'Show this and exit'
complete -c lockrun -n "test -z (__lockrun_operands)[1]" -s V -l version -d 'Show the version and exit'
