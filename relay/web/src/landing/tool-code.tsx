// The code of a page that is a tool server.
import { PATH } from '@svc/protocol'
import { CopyableCode } from '../common/copyable-code.tsx'
import type { VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'

/** The code sets no name, so that the address cannot be guessed from it, and everyone who copies it gets another one. */
const CODE = `<script type="module">
import { publish } from '${location.origin}${PATH.sdkEntry}'

const dice = {
  name: 'dice',
  description: 'Rolls dice, and returns what they show.',
  inputSchema: { type: 'object', properties: { count: { type: 'integer', minimum: 1, maximum: 10 } } },
}
const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'dice', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [dice] }),
  'tools/call': ({ arguments: { count = 1 } = {} }) => {
    const rolls = Array.from({ length: Math.min(count, 10) }, () => 1 + Math.floor(Math.random() * 6))
    return { content: [{ type: 'text', text: rolls.join(' ') }] }
  },
}

async function fetch(request) {
  if (request.method !== 'POST') return new Response(null, { status: 405 })
  // What pages of others can send without being asked is no JSON.
  if (request.headers.get('content-type') !== 'application/json') return new Response(null, { status: 415 })
  const { id, method, params = {} } = await request.json()
  if (id === undefined) return new Response(null, { status: 202 })
  if (!Object.hasOwn(methods, method))
    return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'There is no such method' } })
  return Response.json({ jsonrpc: '2.0', id, result: methods[method](params) })
}

const site = await publish({ relay: '${location.origin}', fetch })
document.body.append(\`claude mcp add --transport http dice \${site.url}/\`)
</script>`

export function ToolCode(): VNode {
  return (
    <>
      <p class="quiet">{LANDING.toolAbout}</p>
      <CopyableCode code={CODE} label={LANDING.copyTool} isProgram />
    </>
  )
}
