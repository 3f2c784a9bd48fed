#compdef ctl
# Completion of ctl for zsh, printed by "ctl --dump=zsh".
_ctl_class()
{
    _arguments -s -S -C $common '1: :->command' '*:: :->rest'
    case $state in
    command)
        commands=(
            'ls:List the classes'
            'lint:Check class files'
        )
        _describe -t commands command commands ;;
    rest)
        case $words[1] in
        ls)
            specs=(
            )
            _arguments -s -S $specs $common ;;
        lint)
            specs=(
            )
            _arguments -s -S $specs $common '*:FILE...:_files' ;;
        esac ;;
    esac
}
_ctl()
{
    local curcontext=$curcontext state line
    local -a common specs commands
    common=(
        '(--store)''--store=[The store to ask]:PATH:_files'
        '(-h --help)''-h[Show this and exit]'
        '(-h --help)''--help[Show this and exit]'
        '(-V --version)''-V[Show the version and exit]'
        '(-V --version)''--version[Show the version and exit]'
    )
    _arguments -s -S -C $common '1: :->command' '*:: :->rest'
    case $state in
    command)
        commands=(
            'ls:List what is held'
            'show:Show one key'
            'class:More commands of this kind'
        )
        _describe -t commands command commands ;;
    rest)
        case $words[1] in
        ls)
            specs=(
            '(-j --json)''-j[Print JSON, for programs]'
            '(-j --json)''--json[Print JSON, for programs]'
            '(-a --all)''-a[Show all]'
            '(-a --all)''--all[Show all]'
            '(--limit)''--limit=[Show N at most]:N: '
            )
            _arguments -s -S $specs $common '*:\[PREFIX\]: ' ;;
        show)
            specs=(
            '(--class)''--class=[Take it for one of this class]:CLASS:{compadd -- ${(f)"$(ctl offer classes "$PREFIX" 2>/dev/null)"}}'
            '(--json)''--json[Print JSON, for programs]'
            )
            _arguments -s -S $specs $common '*:KEY:{compadd -- ${(f)"$(ctl offer keys "$PREFIX" 2>/dev/null)"}}' ;;
        class) _ctl_class ;;
        esac ;;
    esac
}
_ctl "$@"
