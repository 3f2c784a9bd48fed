# Completion of ctl for fish, printed by "ctl --dump=fish".
function __ctl_operands
    set -l words (commandline -opc)
    set -l skips 0
    for word in $words[2..]
        if test $skips = 1
            set skips 0
        else if contains -- $word --store --limit --class
            set skips 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end
function __ctl_is
    set -l words (__ctl_operands)
    set -l group $argv[2]
    set -l command "$words[1]"
    if contains -- "$command" class; and set -q words[2]
        set command "$words[1] $words[2]"
    end
    test "$command" = "$argv[1]"
end
complete -c ctl -f
complete -c ctl -n "__ctl_is ''" -a ls -d 'List what is held'
complete -c ctl -n "__ctl_is 'ls'" -s j -l json -d 'Print JSON, for programs'
complete -c ctl -n "__ctl_is 'ls'" -s a -l all -d 'Show all'
complete -c ctl -n "__ctl_is 'ls'" -l limit -x -d 'Show N at most'
complete -c ctl -n "__ctl_is ''" -a show -d 'Show one key'
complete -c ctl -n "__ctl_is 'show'" -l class -x -a '(ctl offer classes (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)' -d 'Take it for one of this class'
complete -c ctl -n "__ctl_is 'show'" -l json -d 'Print JSON, for programs'
complete -c ctl -n "__ctl_is 'show'" -x -a '(ctl offer keys (string replace -r -- "^-[^=]*=" "" (commandline -ct)) 2>/dev/null)'
complete -c ctl -n "__ctl_is ''" -a class -d 'More commands of this kind'
complete -c ctl -n "__ctl_is 'class'" -a ls -d 'List the classes'
complete -c ctl -n "__ctl_is 'class'" -a lint -d 'Check class files'
complete -c ctl -n "__ctl_is 'class lint'" -F
complete -c ctl -l store -r -F -d 'The store to ask'
complete -c ctl -s h -l help -d 'Show this and exit'
complete -c ctl -s V -l version -d 'Show the version and exit'
