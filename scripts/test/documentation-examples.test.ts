// The examples in the documentation are code that TypeScript accepts, with the packages as they are now.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../tools/programs/command.ts'
import { checkExamples } from '../lint/documentation-examples.ts'

/** The names that stand for what the reader has. */
const READERS_OWN = `
  declare const relay: string
  declare const handler: import('@svc/sdk-browser').FetchHandler
  declare const site: import('@svc/sdk-browser').Site
  declare const input: HTMLInputElement
  declare const keyLog: { label: string, clientRandom: Uint8Array, secret: Uint8Array }[]
  declare const socket: import('node:net').Socket
  declare const request: Uint8Array
  declare const config: import('@svc/tls').ServerConfig
  declare const events: import('@svc/tls').ServerEvents
  declare function count(url: string): Promise<void>
  declare function show(...values: unknown[]): void
  declare function drained(socket: import('node:net').Socket): Promise<void>
  declare function serve(stream: import('@svc/yamux').Stream): Promise<void>
  declare function use(bytes: Uint8Array): void
`
/** What a relay serves (docs/guide/pages.md). */
const FROM_THE_RELAY = `
  declare module 'https://relay.example/sdk.js' {
    export { publish, SvcError } from '@svc/sdk-browser'
  }
  declare const svc: {
    publish: typeof import('@svc/sdk-browser').publish
    load(): Promise<typeof import('https://relay.example/sdk.js')>
    release: string
  }
`
/** What an adapter of docs/guide/pages.md builds. */
const BUILT_SITE = `export declare const fetch: import('@svc/sdk-browser').FetchHandler`

const WRONG = `
\`\`\`ts
import { publish, publishSite } from '@svc/sdk-browser'

const site = await publish({ relay, name: 'demo', fetch: () => new Response(), unknownOption: 1 })
\`\`\`
\`\`\`js
console.log(site.address)
\`\`\`
\`\`\`html
<script type="module">
import { expose } from 'https://relay.example/sdk.js'
</script>
\`\`\`
\`\`\`ts
unknownName()
\`\`\`
`

test('every example type-checks, and an unknown option, export or name is an error of its line', () => {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md']
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(path.join(root, file)))
  const pages = files.map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
  const { modules, errors } = checkExamples([...pages, { file: 'wrong.md', text: WRONG }], {
    'readers-own.d.ts': READERS_OWN,
    'from-the-relay.d.ts': FROM_THE_RELAY,
    'docs/guide/build/site.d.ts': BUILT_SITE,
  })
  expect(modules).toBeGreaterThan(20)
  expect(errors).toEqual([
    expect.stringMatching(/^wrong\.md:3: .*publishSite/),
    expect.stringMatching(/^wrong\.md:5: .*unknownOption/),
    expect.stringMatching(/^wrong\.md:8: .*address/),
    expect.stringMatching(/^wrong\.md:12: .*expose/),
    expect.stringMatching(/^wrong\.md:16: .*unknownName/),
  ])
})
