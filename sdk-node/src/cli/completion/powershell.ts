// The completion of PowerShell. Where it offers nothing, PowerShell offers files.

import type { CompletedCommand } from './model.ts'

/** Returns the script. */
export function powershellCompletion(commands: readonly CompletedCommand[]): string {
  const steps = commands
    .filter(({ path }) => path !== '')
    .flatMap(({ path, aliases }) => {
      const above = path.split(' ').slice(0, -1)
      const names = [path, ...aliases.map((alias) => [...above, alias].join(' '))]
      return names.map((name) => `        ${quoted(name)} = ${quoted(path)}`)
    })
  return `# Completion of svc for PowerShell: svc completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'svc', 'svc.exe' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $steps = @{
${steps.join('\n')}
    }
    $offered = @{
${commands.map((command) => entryOf(command, commands)).join('\n')}
    }
    $values = @{
${commands.flatMap(valuesOf).join('\n')}
    }
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    $command = ''
    $words | Select-Object -Skip 1 | ForEach-Object {
        $next = "$command $_".Trim()
        if ($steps.ContainsKey($next)) { $command = $steps[$next] }
    }
    $previous = "$command $($words[-1])".Trim()
    if ($values.ContainsKey($previous)) {
        $found = $values[$previous] | ForEach-Object { , @($_, $_) }
    } else {
        $found = $offered[$command] | Where-Object { $_[0].StartsWith('-') -eq $wordToComplete.StartsWith('-') }
    }
    $found | Where-Object { $_[0].StartsWith($wordToComplete) } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
    }
}
`
}

/** The commands, values and options of a command, each with its description. */
function entryOf(command: CompletedCommand, all: readonly CompletedCommand[]): string {
  const { path, commands, options, values } = command
  const below = commands.map((name) => {
    const found = all.find((each) => each.path === (path === '' ? name : `${path} ${name}`))
    return pair(name, found?.description ?? name)
  })
  const own = typeof values === 'string' ? [] : values.map((value) => pair(value, value))
  const named = options.flatMap(({ names, description }) => names.map((name) => pair(name, description)))
  return `        ${quoted(path)} = @(\n${[...below, ...own, ...named].map((line) => `            ${line}`).join('\n')}\n        )`
}

/** The values of options that have choices. */
function valuesOf({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ names, values }) =>
    typeof values === 'object'
      ? names.map(
          (name) => `        ${quoted(`${path} ${name}`.trim())} = @(${values.map(quoted).join(', ')})`,
        )
      : [],
  )
}

/** An array in an array, which a comma keeps from being joined. */
function pair(name: string, description: string): string {
  return `, @(${quoted(name)}, ${quoted(description)})`
}

/** PowerShell takes typographic quotation marks for its own, too. */
function quoted(text: string): string {
  return `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`
}
