// Changes of svc.toml in place: what a change does not concern stays byte for byte.

import { describe, expect, it } from 'vitest'
import { addTunnel, EditError, removeTunnel, setFields } from '../../../src/cli/config/edit-toml.ts'
import { TEMPLATE } from '../../../src/cli/config/template.ts'
import { parseToml, type TomlTable } from '../../../src/cli/config/toml.ts'

const FILE = `# the whole
relay = "https://a.example" # the relay

[agent]
control_addr = "127.0.0.1:4018"

# the first
[[tunnel]]
name = "one" # its name
http = 3000
# the second
[[tunnel]]
name = "two"
tags = [
  "a", # of tags
  "b",
]

[tunnel.routes]
"/api" = 3001 # of routes

# apart

# the third
[[tunnel]]
# inside
name = "three"
tcp = 5432
`

const lines = (text: string) => text.split('\n')
/** The lines of `before` that are not in `after`, and the other way round, each in its order. */
function difference(before: string, after: string): { gone: string[]; added: string[] } {
  const added = lines(after)
  const gone = lines(before).filter((line) => {
    const at = added.indexOf(line)
    if (at >= 0) added.splice(at, 1)
    return at < 0
  })
  return { gone, added }
}

describe('a change of svc.toml', () => {
  it('adds a tunnel at the end', () => {
    const text = addTunnel(FILE, { name: 'x"y', http: 80, routes: { '/a': 1, '/b': './c' }, tags: ['é'] })
    expect(text).toBe(
      `${FILE}\n[[tunnel]]\nname = "x\\"y"\nhttp = 80\nroutes = { "/a" = 1, "/b" = "./c" }\ntags = [ "é" ]\n`,
    )
    expect(addTunnel('', { name: 'a' })).toBe('[[tunnel]]\nname = "a"\n')
  })

  it.each<[number, string[]]>([
    [0, ['# the first', '[[tunnel]]', 'name = "one" # its name', 'http = 3000']],
    [
      1,
      [
        '# the second',
        '[[tunnel]]',
        'name = "two"',
        'tags = [',
        '  "a", # of tags',
        '  "b",',
        ']',
        '',
        '[tunnel.routes]',
        '"/api" = 3001 # of routes',
        '',
      ],
    ],
    [2, ['# the third', '[[tunnel]]', '# inside', 'name = "three"', 'tcp = 5432', '']],
  ])('removes tunnel %i with its own comments alone', (index, gone) => {
    const { gone: found, added } = difference(FILE, removeTunnel(FILE, index))
    expect(added).toEqual([])
    const named = (all: string[]) => all.filter((line) => line !== '').toSorted()
    expect(named(found)).toEqual(named(gone))
  })

  it('sets, changes and takes out fields of one tunnel', () => {
    const text = setFields(FILE, 0, { http: null, tcp: 22, paused: true, name: 'eins' })
    expect(difference(FILE, text)).toEqual({
      gone: ['name = "one" # its name', 'http = 3000'],
      added: ['name = "eins" # its name', 'tcp = 22', 'paused = true'],
    })
    expect(setFields(FILE, 1, { paused: true })).toBe(
      FILE.replace(']\n\n[tunnel.', ']\npaused = true\n\n[tunnel.'),
    )
    expect(setFields(FILE, 2, { paused: null })).toBe(FILE)
  })

  it('sets, changes and takes out fields of a table under a header of its own, and the table', () => {
    const access = `# the first
[[tunnel]]
name = "one"

# who may come in
[tunnel.access] # here
password = "a" # of all

# users
[tunnel.access.users]
alice = "b"

# the second
[[tunnel]]
name = "two"
`
    const set = (fields: object | null) => difference(access, setFields(access, 0, { access: fields }))
    const users = { alice: 'b' }
    expect(setFields(access, 0, { access: { password: 'a', users, rate: '1/s', knock: true } })).toBe(
      access.replace('# of all\n', '# of all\nrate = "1/s"\nknock = true\n'),
    )
    expect(setFields(access, 0, { access: { password: 'a', users: { ...users, bob: 'c' } } })).toBe(
      access.replace('alice = "b"\n', 'alice = "b"\nbob = "c"\n'),
    )
    expect(set({ password: 'c', users })).toEqual({
      gone: ['password = "a" # of all'],
      added: ['password = "c" # of all'],
    })
    expect(setFields(access, 0, { access: null, paused: true })).toBe(
      '# the first\n[[tunnel]]\nname = "one"\npaused = true\n\n# the second\n[[tunnel]]\nname = "two"\n',
    )
    expect(setFields(access, 1, { access: { password: 'a', users } })).toBe(
      `${access}access = { password = "a", users = { alice = "b" } }\n`,
    )
  })

  it('sets fields at the head', () => {
    expect(setFields(FILE, undefined, { discover: 3 })).toBe(
      FILE.replace('# the relay\n', '# the relay\ndiscover = 3\n'),
    )
    expect(difference(FILE, setFields(FILE, undefined, { relay: 'https://b.example' }))).toEqual({
      gone: ['relay = "https://a.example" # the relay'],
      added: ['relay = "https://b.example" # the relay'],
    })
  })

  it('keeps Windows’ ends of lines', () => {
    const file = '# a\r\n[[tunnel]]\r\nname = "a"\r\n'
    expect(setFields(file, 0, { paused: true })).toBe(`${file}paused = true\r\n`)
    expect(addTunnel(file, { name: 'b' })).toBe(`${file}\r\n[[tunnel]]\r\nname = "b"\r\n`)
  })

  it.each([
    ['tunnels in one line', 'tunnel = [{ name = "a" }, { name = "b" }]\n'],
    ['a text that looks like a tunnel', 'description = """\n[[tunnel]]\n"""\n[[tunnel]]\nname = "a"\n'],
    ['another spelling', '[["tunnel"]]\nname = "a"\n'],
  ])('is right or refused where the file has %s', (_, file) => {
    for (const change of [
      () => removeTunnel(file, 0),
      () => setFields(file, 0, { paused: true }),
      () => addTunnel(file, { name: 'c' }),
    ])
      try {
        expect(parseToml(change())).not.toEqual(parseToml(file))
      } catch (error) {
        expect(error).toBeInstanceOf(EditError)
      }
  })

  it('is refused where the library would take the comment of the next table with a field', () => {
    const file = '[[tunnel]]\nname = "a"\n[tunnel."routes"]\n"/api" = 1\n# about b\n[[tunnel]]\nname = "b"\n'
    expect(() => setFields(file, 0, { routes: null })).toThrow(EditError)
    expect(setFields(file, 0, { routes: { '/x': 1 } })).toContain('# about b\n[[tunnel]]')
  })

  it('of any order keeps each comment of the template that stands apart from a removed tunnel', () => {
    const whole = TEMPLATE.replace('#relay = [', '## relay = [').replace(/^#(?=[a-z[])/gm, '')
    let random = 1
    const next = (below: number) => {
      random = (random * 48_271) % 2_147_483_647
      return random % below
    }
    for (let round = 0; round < 20; round++) {
      let text = whole
      for (let step = 0; step < 8; step++) {
        const before = text
        const count = (parseToml(text).tunnel as TomlTable[] | undefined)?.length ?? 0
        const kind = next(3)
        if (kind === 0 || count === 0) text = addTunnel(text, { name: `t${'$'}{step}`, http: next(9999) })
        else if (kind === 1) text = removeTunnel(text, next(count))
        else text = setFields(text, next(count), { paused: next(2) === 0, http: next(9999) })
        if (kind !== 1)
          expect(difference(before, text).gone.filter((line) => line.startsWith('#'))).toEqual([])
        expect(text).toContain('# All of the above may also be in a tunnel, for that tunnel only.')
      }
    }
  })
})
