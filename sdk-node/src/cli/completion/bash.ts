// The completion of bash, also of version 3.2, which macOS has.

import type { CompletedCommand, Values } from './model.ts'

/** Returns the script. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  return `# Completion of svc for bash: source <(svc completion bash)
_svc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= values= words= options= i
  # Bash takes --option=value for three words.
  if [[ $cur == = ]]; then cur=
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command \${COMP_WORDS[i]}" in
${steps(commands)}
    esac
  done
  case $command in
${commands.map(wordsOf).join('\n')}
  esac
  case "$command $prev" in
${valuePatterns(commands)}
    *) if [[ $cur == -* ]]; then values=words words=$options; fi ;;
  esac
  local IFS=$'\\n'
  case $values in
    words) COMPREPLY=($(IFS=' '; compgen -W "$words" -- "$cur")) ;;
    files) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
    folders) COMPREPLY=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null ;;
    *) COMPREPLY=() ;;
  esac
}
complete -F _svc svc
`
}

/** The words that lead from a command to one below it. */
function steps(commands: readonly CompletedCommand[]): string {
  return commands
    .filter(({ path }) => path !== '')
    .map(({ path, aliases }) => {
      const words = path.split(' ')
      const above = words.slice(0, -1).join(' ')
      const names = [words.at(-1), ...aliases].map((name) => quoted(`${above} ${name}`))
      return `      ${names.join('|')}) command=${quoted(path)} ;;`
    })
    .join('\n')
}

function wordsOf({ path, commands, options, values }: CompletedCommand): string {
  const names = options.flatMap((option) => option.names).join(' ')
  const given = commands.length > 0 ? commands : values
  return `    ${quoted(path)}) options=${quoted(names)} ${assignment(given)} ;;`
}

/** The options after which comes a value, by what that is. */
function valuePatterns(commands: readonly CompletedCommand[]): string {
  const patterns = new Map<string, string[]>()
  for (const { path, options } of commands)
    for (const { names, values } of options) {
      if (values === undefined) continue
      const wanted = assignment(values)
      const known = patterns.get(wanted) ?? []
      patterns.set(wanted, [...known, ...names.map((name) => quoted(`${path} ${name}`))])
    }
  return [...patterns].map(([wanted, names]) => `    ${names.join('|')}) ${wanted} ;;`).join('\n')
}

function assignment(values: Values): string {
  return typeof values === 'string' ? `values=${values}` : `values=words words=${quoted(values.join(' '))}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
