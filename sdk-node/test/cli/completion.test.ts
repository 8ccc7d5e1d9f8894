// The scripts of `svc completion` in the shells themselves, where these are installed: what each offers for a line.

import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { completionScript } from '../../src/cli/completion/completion.ts'
import { completedCommands } from '../../src/cli/completion/model.ts'
import { SHELLS, type Shell } from '../../src/cli/completion/shells.ts'
import { environment, runHere } from '../support/svc.ts'

let folder: string
const scriptOf = (shell: Shell): string => join(folder, `svc.${shell}`)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-completion-'))
  for (const shell of SHELLS) await writeFile(scriptOf(shell), `${completionScript(shell)}\n`)
  await writeFile(join(folder, 'ca.pem'), '')
  await mkdir(join(folder, 'a folder'))
})
afterAll(() => rm(folder, { recursive: true }))

function run(program: string, ...args: string[]): string {
  const env = { ...environment(folder), HOME: folder, TERM: 'dumb' }
  const { stdout } = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8', timeout: 60_000 })
  return stdout
}

const lines = (text: string): string[] => text.split(/\r*\n/).filter((line) => line !== '')

const BASH_ASK = `source svc.bash
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`

/** Asks a shell what it offers at the end of a line. */
const ASK: Readonly<Partial<Record<Shell, (words: string[]) => string[]>>> = {
  bash: (words) => lines(run('bash', '--norc', '-c', BASH_ASK, 'bash', ...words)),
  fish: (words) => {
    const offered = lines(run('fish', '-N', '-c', `source svc.fish; complete -C '${words.join(' ')}'`))
    return offered.map((line) => line.split('\t')[0]!)
  },
}

const FOLDERS = ['a folder', 'a folder/']

describe.each(Object.entries(ASK))('in %s', (shell, ask) => {
  const isHere = spawnSync(shell, ['--version']).error === undefined

  describe.skipIf(!isHere)('svc', () => {
    it.each([
      [['svc', 'kn'], ['knock']],
      [
        ['svc', 'knock', ''],
        ['admit', 'help', 'list', 'refuse'],
      ],
      [['svc', 'knock', 'admit', '--al'], ['--always']],
      [['svc', 'expose', '3000', '--tls-min'], ['--tls-min-version']],
      [['svc', 'http', '3000', '--tls-min'], ['--tls-min-version']],
      [['svc', 'serve', './site', '--sp'], ['--spa']],
      [
        ['svc', 'expose', '--carrier', ''],
        ['native', 'native-sessions', 'websocket'],
      ],
      [
        ['svc', 'completion', ''],
        ['bash', 'fish', 'powershell', 'zsh'],
      ],
      [
        ['svc', 'help', 'st'],
        ['start', 'status'],
      ],
      [['svc', 'expose', '--name', ''], []],
    ])('is completed: %j', (words, offered) => {
      expect(ask(words).sort()).toEqual(offered)
    })

    it('takes files and folders where these are wanted', () => {
      expect(ask(['svc', 'expose', '--ca', 'ca']).join()).toBe('ca.pem')
      for (const found of ask(['svc', 'serve', 'a'])) expect(FOLDERS).toContain(found.replace('\\', ''))
      expect(ask(['svc', 'serve', 'ca'])).toEqual([])
    })
  })
})

// It completes only in a terminal, by functions that have replacements here.
const ZSH_ASK = `compdef() {}
_arguments() { print -rl -- "$@"; state=command }
_describe() { print -rl -- $commands }
source svc.zsh
$1`

describe.skipIf(spawnSync('zsh', ['--version']).error !== undefined)('in zsh', () => {
  const asked = (name: string): string[] => lines(run('zsh', '-f', '-c', ZSH_ASK, 'zsh', name))

  it('has commands with what they do', () => {
    expect(asked('_svc')).toContain('serve:the files of a folder')
    expect(asked('_svc_knock')).toContain('admit:lets a visitor in for 24 hours')
  })

  it('has options with their values, in the words of _arguments', () => {
    expect(asked('_svc_expose')).toEqual(
      expect.arrayContaining([
        '*--carrier[how visitors come]:value:(native native-sessions websocket)',
        '(-h --help)--help[print this]',
        expect.stringMatching(/^\*--ca\[PEM .* \\\[svc config.*\\\]\]:value:_files$/),
        '*:value: ',
      ]),
    )
    expect(asked('_svc_serve')).toContain('*:value:_path_files -/')
  })
})

it('has all commands with the options of their help, for each shell', () => {
  const commands = completedCommands()
  expect(commands.map(({ path }) => path)).toContain('webhook send')
  for (const shell of SHELLS) {
    const script = completionScript(shell)
    for (const { path, options } of commands)
      for (const word of [...path.split(' '), ...options.flatMap(({ names }) => names)])
        expect(script).toContain(word.replace(/^--?/, ''))
  }
})

it('offers in bash, for each command, just what its help has', () => {
  const commands = completedCommands()
  const asked = commands.map(({ path }) => {
    const words = ['svc', ...path.split(' '), '--'].filter((word) => word !== '')
    return `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _svc; echo "\${COMPREPLY[*]}"`
  })
  const said = run('bash', '--norc', '-c', ['source svc.bash', ...asked].join('\n')).split('\n')
  const wanted = commands.map(({ options }) =>
    options.flatMap(({ names }) => names).filter((name) => name.startsWith('--')),
  )
  expect(said.slice(0, -1).map((line) => line.split(' ').filter(Boolean))).toEqual(wanted)
})

it('takes an option with an equals sign in bash', () => {
  const ask = ASK.bash!
  expect(ask(['svc', 'expose', '--carrier', '=', 'web'])).toEqual(['websocket'])
  expect(ask(['svc', 'expose', '--carrier', '='])).toHaveLength(3)
})

it('is printed by the command, and no other shell is known', async () => {
  const printed = runHere(folder, ['completion', 'bash'])
  expect(await printed.ended).toBe(0)
  expect(printed.out.join('\n')).toBe(completionScript('bash'))
  const unknown = runHere(folder, ['completion', 'tcsh'])
  expect(await unknown.ended).toBe(2)
  expect(unknown.err.join()).toContain('Allowed choices are bash, zsh, fish, powershell')
})
