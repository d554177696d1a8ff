/** The script calls `reeve __complete` with the arguments before the cursor, and offers the lines that it prints. */
export function scriptFor(shell: 'bash' | 'zsh' | 'fish'): string {
  return SCRIPTS[shell].trim()
}

const SCRIPTS = {
  bash: `
_reeve() {
  local IFS=$'\\n' current="\${COMP_WORDS[COMP_CWORD]}"
  local found=($(reeve __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  if [[ \${found[0]} == ':command' ]]; then
    local IFS=$' \\t\\n'
    COMPREPLY=($(compgen -c -f -- "$current"))
  elif [[ \${found[0]} == ':file' ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=("\${found[@]}")
  fi
}
complete -o bashdefault -F _reeve reeve
`,
  zsh: `
#compdef reeve
_reeve() {
  local -a lines plain
  lines=("\${(@f)$(reeve __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $lines[1] == ':command' ]]; then
    _command_names; _files
  elif [[ $lines[1] == ':file' ]]; then
    _files
  elif [[ -n $lines[1] ]]; then
    local line
    for line in $lines; do
      local text="\${\${line%%$'\\t'*}//:/\\\\:}"
      if [[ $line == *$'\\t'* ]]; then plain+=("$text:\${line#*$'\\t'}"); else plain+=("$text"); fi
    done
    _describe -V reeve plain
  fi
}
if (( $+functions[compdef] )); then compdef _reeve reeve; fi
`,
  fish: `
function __reeve_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (reeve __complete -- $words[2..-1] 2>/dev/null)
  if test "$found[1]" = ':command'
    __fish_complete_command
  else if test "$found[1]" = ':file'
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c reeve -f -a '(__reeve_complete)'
`,
} as const
