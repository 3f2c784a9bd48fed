# Completion of lockctl for fish, printed by "lockctl --dump=fish".
function __lockctl_operands
    set -l words (commandline -opc)
    set -l skips 0
    for word in $words[2..]
        if test $skips = 1
            set skips 0
        else if contains -- $word --store -c --count -c --count -d --every -s --sort --token --classes --classes --classes --why
            set skips 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end
function __lockctl_is
    set -l words (__lockctl_operands)
    set -l group $argv[2]
    set -l command "$words[1]"
    if contains -- "$command" class epoch; and set -q words[2]
        set command "$words[1] $words[2]"
    end
    test "$command" = "$argv[1]"
end
complete -c lockctl -f
complete -c lockctl -n "__lockctl_is ''" -a ls -d 'List what is held and how many wait'
complete -c lockctl -n "__lockctl_is 'ls'" -x -a '(lockctl complete keys (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)'
complete -c lockctl -n "__lockctl_is ''" -a show -d 'Tell all about one key: who holds it, who waits, and why it is stuck'
complete -c lockctl -n "__lockctl_is 'show'" -x -a '(lockctl complete keys (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)'
complete -c lockctl -n "__lockctl_is ''" -a queue -d 'Tell who waits, in the order in which they will get it'
complete -c lockctl -n "__lockctl_is 'queue'" -x -a '(lockctl complete keys (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)'
complete -c lockctl -n "__lockctl_is ''" -a watch -d 'Tell each change as it comes, with its cause, until ^C'
complete -c lockctl -n "__lockctl_is 'watch'" -s c -l count -x -d 'End after N changes'
complete -c lockctl -n "__lockctl_is 'watch'" -x -a '(lockctl complete keys (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)'
complete -c lockctl -n "__lockctl_is ''" -a top -d 'Show what is held, how old it is and who waits, always up to date'
complete -c lockctl -n "__lockctl_is 'top'" -s 1 -l once -d 'Print the list once, as plain text'
complete -c lockctl -n "__lockctl_is 'top'" -s b -l batch -d 'Print the list again and again, as plain text'
complete -c lockctl -n "__lockctl_is 'top'" -s c -l count -x -d 'End after N lists'
complete -c lockctl -n "__lockctl_is 'top'" -s d -l every -x -d 'Look again after TIME, 100ms to 1h; 1s by default'
complete -c lockctl -n "__lockctl_is 'top'" -s s -l sort -x -a 'key age waiting lease' -d 'What stands first: key (by name, the default), age (the oldest), waiting (the longest queue) or lease (what ends next)'
complete -c lockctl -n "__lockctl_is 'top'" -x -a '(lockctl complete keys (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)'
complete -c lockctl -n "__lockctl_is ''" -a shell -d 'Take commands from a prompt, with completion and a history'
complete -c lockctl -n "__lockctl_is ''" -a release -d 'End one grant, named by its token, and nothing else'
complete -c lockctl -n "__lockctl_is 'release'" -l token -x -d 'The grant to end, as show tells it; needed'
complete -c lockctl -n "__lockctl_is 'release'" -s n -l dry-run -d 'Say what would happen, and change nothing'
complete -c lockctl -n "__lockctl_is 'release'" -x -a '(lockctl complete keys (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)'
complete -c lockctl -n "__lockctl_is ''" -a class -d 'More commands of this kind'
complete -c lockctl -n "__lockctl_is 'class'" -a ls -d 'List the lock classes'
complete -c lockctl -n "__lockctl_is 'class ls'" -l classes -r -F -d 'The folder of class files, for files under review'
complete -c lockctl -n "__lockctl_is 'class'" -a lint -d 'Check class files, and print what load each class puts on the store and how long a dead holder can block'
complete -c lockctl -n "__lockctl_is 'class lint'" -l classes -r -F -d 'The folder of class files, for files under review'
complete -c lockctl -n "__lockctl_is 'class lint'" -x -a '(lockctl complete classes (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)'
complete -c lockctl -n "__lockctl_is 'class'" -a show -d 'Tell a class\'s rules, its load on the store, and how long a dead holder can block'
complete -c lockctl -n "__lockctl_is 'class show'" -l classes -r -F -d 'The folder of class files, for files under review'
complete -c lockctl -n "__lockctl_is 'class show'" -x -a '(lockctl complete classes (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)'
complete -c lockctl -n "__lockctl_is ''" -a epoch -d 'More commands of this kind'
complete -c lockctl -n "__lockctl_is 'epoch'" -a show -d 'Tell the store\'s epoch, and who raised it, when and why'
complete -c lockctl -n "__lockctl_is 'epoch'" -a advance -d 'Raise the epoch: everything that is held or waited for now is over'
complete -c lockctl -n "__lockctl_is 'epoch advance'" -l why -x -d 'The reason, kept in the epoch record; needed'
complete -c lockctl -n "__lockctl_is 'epoch advance'" -s n -l dry-run -d 'Say what would be ended and how long it waits, and change nothing'
complete -c lockctl -n "__lockctl_is 'epoch advance'" -s y -l yes -d 'Do not ask on the terminal'
complete -c lockctl -n "__lockctl_is 'epoch advance'" -l now -d 'Do not wait until the former holders have ended: they may still write while new ones run'
complete -c lockctl -l store -r -F -d 'The store, sqlite:PATH, or a path; by default what HOLDFAST_STORE names, or else the store of this user'
complete -c lockctl -l json -d 'Print one JSON document instead of text'
complete -c lockctl -s h -l help -d 'Show this and exit'
complete -c lockctl -s V -l version -d 'Show the version and exit'
