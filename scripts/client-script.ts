// Makes the module `/x402/client.js` of the payer's client, as text that sites serve, so that a seller's checkout page has the same
// checks. `node scripts/client-script.ts` writes it; a test says when that has to be done again.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { build, type Rolldown } from 'vite'
import { root } from '../tools/programs/command.ts'

export const CLIENT_SCRIPT_FILE: string = path.join(root, 'sdk-core/src/handlers/paid/client-script.ts')

/** @returns the content of {@link CLIENT_SCRIPT_FILE} */
export async function clientScript(): Promise<string> {
  const entry = path.join(root, 'sdk-core/src/payer/module.ts')
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    build: { write: false, minify: false, target: 'es2022', lib: { entry, formats: ['es'] } },
  })
  const [{ output }] = result as [Rolldown.RolldownOutput]
  const [{ code }, ...more] = output
  if (more.length > 0) throw new Error('the module needs more files than one')
  const text = code
    .replace(/^\/\/#.*\n/gm, '')
    .replaceAll('\\', '\\\\')
    .replaceAll('`', '\\`')
    .replaceAll('${', '\\${')
  return `// The module \`/x402/client.js\`, made of \`payer\` by \`node scripts/client-script.ts\`: it pays for what a site sells. It is text, since
// visitors run it, in pages of their seller; who has a bundle imports the client from the SDK.

export const CLIENT_SCRIPT: string = \`// Pays for what this site sells (x402). A page that imports it from a site trusts that site: programs import it from their SDK.
${text}\`
`
}

if (import.meta.main) writeFileSync(CLIENT_SCRIPT_FILE, await clientScript())
