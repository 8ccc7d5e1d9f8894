// The completion of fish.

import type { CompletedCommand, CompletedOption, Values } from './model.ts'

/** Returns the script. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '')
  const steps = paths.flatMap(({ path, aliases }) => {
    const words = path.split(' ')
    const above = words.slice(0, -1)
    return [words.at(-1)!, ...aliases].map((name) => quoted([...above, name].join(' ')))
  })
  const renamed = paths.flatMap(({ path, aliases }) => aliases.map((alias) => [alias, path] as const))
  return `# Completion of svc for fish: svc completion fish | source
function __svc_command
    set -l command
    for word in (commandline -opc)[2..-1]
        if contains -- (string join ' ' -- $command $word) ${steps.join(' ')}
            set -a command $word
        end
    end
${renamed.map(([alias, path]) => `    test "$command" = ${quoted(alias)}; and set command ${quoted(path)}\n`).join('')}    test "$command" = "$argv[1]"
end
complete -c svc -e
complete -c svc -f
${commands.flatMap((command) => linesOf(command, commands)).join('\n')}
`
}

function linesOf(command: CompletedCommand, all: readonly CompletedCommand[]): string[] {
  const { path, commands, options, values } = command
  const when = `complete -c svc -n ${quoted(`__svc_command ${quoted(path)}`)}`
  const below = commands.map((name) => {
    const found = all.find((each) => each.path === (path === '' ? name : `${path} ${name}`))
    return `${when} -a ${quoted(name)} -d ${quoted(found?.description ?? '')}`
  })
  const own = commands.length > 0 || values === 'none' ? [] : [`${when} ${offered(values)}`]
  return [...below, ...own, ...options.map((option) => `${when} ${optionWords(option)}`)]
}

function optionWords({ names, description, values }: CompletedOption): string {
  const forms = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  const value = values === undefined ? '' : ` -r ${offered(values)}`
  return `${forms.join(' ')}${value} -d ${quoted(description)}`
}

function offered(values: Values): string {
  if (values === 'files') return '-F'
  if (values === 'folders') return "-f -a '(__fish_complete_directories)'"
  return values === 'none' ? '-f' : `-f -a ${quoted(values.join(' '))}`
}

/** In fish a quotation mark and a backslash are escaped between quotation marks, too. */
function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}
