// What a shell can complete, from the commands and options as commander has them.

import { programOf } from '../options/command-line.ts'

/** What a value is: `none` when only the user knows. */
export type Values = 'none' | 'files' | 'folders' | readonly string[]

export interface CompletedOption {
  /** The short form first, if it has one. */
  names: readonly string[]
  description: string
  /** Undefined when it takes no value, or may go without. */
  values: Values | undefined
}

export interface CompletedCommand {
  /** The words of the command, such as `knock admit`; empty for `svc` itself. */
  path: string
  /** Other names of its last word. */
  aliases: readonly string[]
  description: string
  /** The last words of its own commands. */
  commands: readonly string[]
  options: readonly CompletedOption[]
  /** What its arguments are. */
  values: Values
}

type Program = ReturnType<typeof programOf>
type Help = ReturnType<Program['createHelp']>

const SILENT = { log: () => {}, error: () => {} }

/** Returns `svc` and each of its commands, which the help shows. */
export function completedCommands(): CompletedCommand[] {
  const program = programOf({}, SILENT, () => {})
  return commandsOf(program, program.createHelp(), '')
}

/** @param above the command above it */
function commandsOf(command: Program, help: Help, path: string, above?: Program): CompletedCommand[] {
  const below = help.visibleCommands(command)
  const isHelp = command.name() === 'help'
  const own: CompletedCommand = {
    path,
    aliases: command.aliases(),
    description: command.description(),
    commands: below.map((each) => each.name()),
    options: isHelp ? [] : help.visibleOptions(command).map(optionOf),
    values: isHelp ? namesOf(above) : valuesOfArguments(command),
  }
  return [own, ...below.flatMap((each) => commandsOf(each, help, `${path} ${each.name()}`.trim(), command))]
}

function namesOf(command: Program | undefined): string[] {
  return command?.commands.map((each) => each.name()) ?? []
}

function optionOf(option: Program['options'][number]): CompletedOption {
  const { short, long, description, required, argChoices, flags } = option
  return {
    names: [short, long].filter((name) => name !== undefined),
    description,
    values: required ? (argChoices ?? kindOf(/<(\w+)/.exec(flags)?.[1])) : undefined,
  }
}

/** An argument that is a file or a choice decides; others are the user's own words. */
function valuesOfArguments({ registeredArguments }: Program): Values {
  const kinds = registeredArguments.map((argument): Values => argument.argChoices ?? kindOf(argument.name()))
  return kinds.find((kind) => kind !== 'none') ?? 'none'
}

function kindOf(name: string | undefined): Values {
  if (name === 'file' || name === 'picture') return 'files'
  return name === 'folder' ? 'folders' : 'none'
}
