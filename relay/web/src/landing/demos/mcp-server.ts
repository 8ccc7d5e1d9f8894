// A server of the Model Context Protocol, revision 2025-06-18, over its Streamable HTTP transport: tools alone, without sessions, so
// that each POST has its answer.

const REVISIONS = ['2025-06-18', '2025-03-26']
/** Bytes of a message: more than any of our tools takes. */
const MESSAGE_MAX_BYTES: number = 64 * 1024

/** Codes of JSON-RPC 2.0 §5.1. */
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602

export interface Tool {
  name: string
  description: string
  /** A JSON schema. */
  inputSchema: object
  /** @throws Error whose message the caller gets */
  call(input: Record<string, unknown>, signal: AbortSignal): string | Promise<string>
}

/** @param about the page for people who open the address */
export function mcpServer(
  tools: readonly Tool[],
  about: () => Response,
): (request: Request) => Response | Promise<Response> {
  return (request) => {
    const { method, headers, url } = request
    const { origin, pathname } = new URL(url)
    if (pathname !== '/') return plain(404, 'Not found\n')
    if (method === 'GET' && headers.get('accept')?.includes('text/html')) return about()
    // A page of another site must not use a visitor's browser to call tools (§Security Warning).
    if ((headers.get('origin') ?? origin) !== origin) return plain(403, 'Not from other sites\n')
    if (method !== 'POST') return plain(405, 'Only POST\n', { Allow: 'POST' })
    if (!headers.get('content-type')?.startsWith('application/json')) return plain(415, 'Only JSON\n')
    if (!REVISIONS.includes(headers.get('mcp-protocol-version') ?? REVISIONS[0]!))
      return plain(400, `Only the revisions ${REVISIONS.join(', ')}\n`)
    return answer(tools, request)
  }
}

async function answer(tools: readonly Tool[], request: Request): Promise<Response> {
  const text = await readText(request)
  if (text === undefined) return plain(413, 'That is too long\n')
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return failure(null, PARSE_ERROR, 'this is not JSON', 400)
  }
  if (!isRecord(message) || message.jsonrpc !== '2.0')
    return failure(null, INVALID_REQUEST, 'not JSON-RPC', 400)
  const { id, method } = message
  // A notification, or an answer to what this server never asks.
  if (typeof method !== 'string' || id === undefined) return new Response(null, { status: 202 })
  const isId = typeof id === 'string' || typeof id === 'number'
  if (!isId) return failure(null, INVALID_REQUEST, 'id is no text and no number', 400)
  const params = isRecord(message.params) ? message.params : {}
  return await respond(tools, id, method, params, request.signal)
}

type Id = string | number | null

async function respond(
  tools: readonly Tool[],
  id: Id,
  method: string,
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Response> {
  switch (method) {
    case 'initialize': {
      const revision = REVISIONS.find((one) => one === params.protocolVersion) ?? REVISIONS[0]
      const serverInfo = { name: 'svc-tab', version: '1.0.0' }
      return result(id, { protocolVersion: revision, capabilities: { tools: {} }, serverInfo })
    }
    case 'ping':
      return result(id, {})
    case 'tools/list':
      return result(id, {
        tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
      })
    case 'tools/call': {
      const tool = tools.find(({ name }) => name === params.name)
      if (tool === undefined) return failure(id, INVALID_PARAMS, 'there is no such tool')
      const input = isRecord(params.arguments) ? params.arguments : {}
      return result(id, await called(tool, input, signal))
    }
    default:
      return failure(id, METHOD_NOT_FOUND, 'there is no such method')
  }
}

async function called(tool: Tool, input: Record<string, unknown>, signal: AbortSignal): Promise<object> {
  try {
    return { content: [{ type: 'text', text: await tool.call(input, signal) }] }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return { content: [{ type: 'text', text }], isError: true }
  }
}

function result(id: Id, value: object): Response {
  return Response.json({ jsonrpc: '2.0', id, result: value }, { headers: NO_STORE })
}

function failure(id: Id, code: number, message: string, status = 200): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status, headers: NO_STORE })
}

const NO_STORE = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

function plain(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, { status, headers: { ...NO_STORE, ...headers } })
}

/** @returns undefined for a body that is longer than any message */
async function readText({ body }: Request): Promise<string | undefined> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done) return text + decoder.decode()
    bytes += value?.length ?? 0
    if (bytes > MESSAGE_MAX_BYTES) {
      await reader?.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
