// The completion of zsh, by its function _arguments.

import type { CompletedCommand, CompletedOption, Values } from './model.ts'

/** Returns the script, which may be sourced or be the file _svc in a folder where zsh looks. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef svc
# Completion of svc for zsh: source <(svc completion zsh)
${commands.map((command) => functionOf(command, commands)).join('\n')}
if [[ \${funcstack[1]} == _svc ]]; then _svc "$@"; else compdef _svc svc; fi
`
}

function functionOf(command: CompletedCommand, all: readonly CompletedCommand[]): string {
  const options = command.options.flatMap(specsOf)
  const lines = command.commands.length > 0 ? ["'1: :->command'", "'*:: :->words'"] : argumentsOf(command)
  const specs = [...options, ...lines].map((spec) => ` \\\n    ${spec}`).join('')
  return `${nameOf(command.path)}() {
  local curcontext="$curcontext" state line
  _arguments -C${specs}
${command.commands.length > 0 ? dispatch(command, all) : ''}}`
}

/** Completes the word of a command below, or what comes after it. */
function dispatch({ path, commands }: CompletedCommand, all: readonly CompletedCommand[]): string {
  const below = commands.flatMap(
    (name) => all.find((each) => each.path === (path === '' ? name : `${path} ${name}`)) ?? [],
  )
  const described = below.map(({ path, description }) => quoted(`${lastOf(path)}:${description}`))
  const cases = below.map(
    ({ path, aliases }) => `        ${[lastOf(path), ...aliases].join('|')}) ${nameOf(path)} ;;`,
  )
  return `  case $state in
    command)
      local -a commands=(
        ${described.join('\n        ')}
      )
      _describe command commands ;;
    words)
      case $line[1] in
${cases.join('\n')}
      esac ;;
  esac
`
}

function specsOf({ names, description, values }: CompletedOption): string[] {
  const text = `[${description.replace(/[[\]\\]/g, '\\$&')}]${values === undefined ? '' : `:value:${actionOf(values)}`}`
  // Most options with a value may be repeated.
  const others = values === undefined ? `(${names.join(' ')})` : '*'
  return names.map((name) => quoted(others + name + text))
}

/** Without a word of its arguments, zsh completes nothing after one. */
function argumentsOf({ values }: CompletedCommand): string[] {
  return [quoted(`*:value:${actionOf(values)}`)]
}

/** A space as the action offers nothing. */
function actionOf(values: Values): string {
  if (values === 'files') return '_files'
  if (values === 'folders') return '_path_files -/'
  return values === 'none' ? ' ' : `(${values.join(' ')})`
}

function nameOf(path: string): string {
  return ['_svc', ...path.split(' ')].filter((word) => word !== '').join('_')
}

function lastOf(path: string): string {
  return path.split(' ').at(-1) ?? ''
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
