// The TLS engine against clients that are not ours: `npm run interop [-- ROW…] [--json | --markdown]`.
// A cell that fails fails the command; a client that is not there is a row that was skipped.
import { parseArgs } from 'node:util'
import { CLIENTS } from '../tls/test/interop/clients/index.ts'
import { failures, type Row, runMatrix } from '../tls/test/interop/matrix.ts'
import { asMarkdown, asText, summaryOf } from '../tls/test/interop/print.ts'

const { wanted, print } = readArguments() ?? usage()
// The clients lead process groups of their own, and are ended when this process exits: a signal must be an exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
// Standard output is the table's alone.
const rows = await runMatrix(wanted, (row) => console.error(summaryOf(row)))
console.error()
console.log(print(rows))
const failed = failures(rows)
for (const failure of failed) console.error(`\n✗ ${failure}`)
process.exitCode = failed.length > 0 || rows.every(({ version }) => version === undefined) ? 1 : 0

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean' }, markdown: { type: 'boolean' } },
    })
    const wanted = CLIENTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    const isKnown = positionals.every((name) => CLIENTS.some((client) => client.name === name))
    if (!isKnown || (values.json && values.markdown)) return undefined
    const asJson = (all: readonly Row[]) => JSON.stringify(all, undefined, 2)
    return { wanted, print: values.json ? asJson : values.markdown ? asMarkdown : asText }
  } catch {
    return undefined
  }
}

function usage(): never {
  console.error('Usage: npm run interop [-- ROW…] [--json | --markdown]')
  console.error(`ROW is one of ${CLIENTS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
