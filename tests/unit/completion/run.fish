# Completion of run for fish, printed by "run --dump=fish".
function __run_operands
    set -l words (commandline -opc)
    set -l skips 0
    for word in $words[2..]
        if test $skips = 1
            set skips 0
        else if contains -- $word -w --wait --timeout -E --conflict-exit-code --key --ttl --note -L --label -c --command --leftover
            set skips 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end
complete -c run -x -a '(__fish_complete_subcommand -- -w --wait --timeout -E --conflict-exit-code --key --ttl --note -L --label -c --command --leftover)'
complete -c run -n "test -z (__run_operands)[1]" -s n -l nb -l nonblocking -d 'Fail at once if the key is held'
complete -c run -n "test -z (__run_operands)[1]" -s w -l wait -l timeout -x -d 'Wait at most TIME for the key; then end with 75, or with what -E says'
complete -c run -n "test -z (__run_operands)[1]" -s E -l conflict-exit-code -x -d 'The exit status when somebody else holds the key'
complete -c run -n "test -z (__run_operands)[1]" -s s -l shared -d 'Hold the key together with others that share it'
complete -c run -n "test -z (__run_operands)[1]" -s x -s e -l exclusive -d 'Hold the key alone: the default'
complete -c run -n "test -z (__run_operands)[1]" -l key -x -d 'What is locked'
complete -c run -n "test -z (__run_operands)[1]" -l ttl -x -d 'How long the lease lives without a renewal'
complete -c run -n "test -z (__run_operands)[1]" -l note -r -F -d 'A note for those who are kept out'
complete -c run -n "test -z (__run_operands)[1]" -s L -l label -x -d 'A label; may be repeated'
complete -c run -n "test -z (__run_operands)[1]" -s c -l command -x -d 'Give LINE to the shell'
complete -c run -n "test -z (__run_operands)[1]" -l leftover -x -a 'wait kill leave' -d 'What of processes that outlive the command: wait (the default), kill or leave'
complete -c run -n "test -z (__run_operands)[1]" -s v -l verbose -d 'Say what is done'
complete -c run -n "test -z (__run_operands)[1]" -s h -l help -d 'Show this and exit'
complete -c run -n "test -z (__run_operands)[1]" -s V -l version -d 'Show the version and exit'
