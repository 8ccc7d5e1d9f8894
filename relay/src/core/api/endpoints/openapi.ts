// Derives the API's description (OpenAPI 3.1) from the table of endpoints and the schemas that parse their bodies.

import { ERROR_STATUS, type ErrorCode, HEADER, INSTALL_SLUGS, PATH, SUBPROTOCOL } from '@svc/protocol'
import { componentSchemas, type JsonSchema, referenceTo, type z } from '../../config/schema.ts'
import { RELEASE_VERSION } from '../../version.ts'
import { DOWNLOAD_FILES } from './download-names.ts'
import type { Auth, Endpoint, EndpointBody } from './endpoint.ts'
import { ENDPOINTS } from './endpoints.ts'
import { failed, signFailure } from './response-schemas.ts'

type AnyEndpoint = Endpoint<unknown, unknown>
type Content = Record<string, { schema?: JsonSchema }>

interface Answer {
  description: string
  content?: Content
}

const UNAUTHORIZED = 401
const INSTALL_BIN = '/api/install/bin/{slug}'

const SECURITY_SCHEMES = {
  admin: { type: 'http', scheme: 'bearer', description: 'The admin token.' },
  leaseToken: { type: 'apiKey', in: 'header', name: HEADER.accessToken, description: 'The lease token.' },
  reverseCapability: {
    type: 'apiKey',
    in: 'header',
    name: HEADER.reverseCapability,
    description: `Native clients. A browser offers the WebSocket subprotocols ${SUBPROTOCOL} and the capability.`,
  },
} as const

const NOT_MODIFIED = { description: 'The response that `If-None-Match` names is still current.' }
const AFTER = {
  name: 'after',
  in: 'query',
  description: 'Start of the page: `next` of the previous page.',
  schema: { type: 'string' },
}
const IF_NONE_MATCH = { name: 'If-None-Match', in: 'header', schema: { type: 'string' } }

/** Credentials in a body have no security scheme: the body's schema shows them. */
const SECURITY: Record<Auth, Partial<Record<keyof typeof SECURITY_SCHEMES, []>>[]> = {
  none: [],
  siwe: [],
  descriptor: [],
  'token-body': [],
  admin: [{ admin: [] }],
  'optional-admin': [{ admin: [] }, {}],
  'token-header': [{ leaseToken: [] }],
  'optional-token-header': [{ leaseToken: [] }, {}],
  // Browsers send the capability as a WebSocket subprotocol.
  capability: [{ reverseCapability: [] }, {}],
}

/** The OpenAPI document. @param origin origin of the relay's URL */
export function describeApi(origin: string, endpoints: object = ENDPOINTS): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Reverse tunnel relay',
      version: RELEASE_VERSION,
      description: 'Another method on a path of this list gets 405 `method_not_allowed`, with `Allow`.',
    },
    servers: [{ url: origin }],
    paths: { ...paths(endpoints), ...filePaths(), ...goPaths() },
    components: { schemas: componentSchemas(), securitySchemes: SECURITY_SCHEMES },
  }
}

function paths(endpoints: object): Record<string, Record<string, JsonSchema>> {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const [name, endpoint] of Object.entries(endpoints) as [string, AnyEndpoint][]) {
    const operations = paths[endpoint.path] ?? {}
    operations[endpoint.method.toLowerCase()] = operation(name, endpoint)
    if (endpoint.isKept) operations.head = headOperation(name, endpoint)
    paths[endpoint.path] = operations
  }
  return paths
}

/** Paths of the installer and of the browser SDK. Their files are not in the table of endpoints. */
function filePaths(): Record<string, JsonSchema> {
  const responses = {
    200: { description: 'The file.' },
    206: { description: 'A range of the file, or of its compressed form.' },
    304: NOT_MODIFIED,
    404: { description: 'This relay does not have the file.' },
    409: { description: 'The browser SDK belongs to another release than `version`.' },
  }
  const both = (name: string, summary: string): JsonSchema => ({
    get: { operationId: name, summary, security: [], responses },
    head: { operationId: `${name}Head`, summary, security: [], responses },
  })
  const slug = {
    name: 'slug',
    in: 'path',
    required: true,
    schema: { enum: [...INSTALL_SLUGS, ...DOWNLOAD_FILES] },
  }
  const version = { name: 'version', in: 'query', schema: { type: 'string' } }
  return {
    [PATH.installSh]: both('installSh', 'The installer for sh'),
    [PATH.installPs1]: both('installPs1', 'The installer for PowerShell'),
    [INSTALL_BIN]: {
      parameters: [slug, version],
      ...both(
        'installBin',
        'A program, plain or as its gzip file, the checksums, or the browser SDK as a module (js-wasm) or a script (wasm-exec)',
      ),
    },
    [PATH.sdkEntry]: { parameters: [version], ...both('sdkEntry', 'The browser SDK, an ES module') },
    [PATH.sdkImportMap]: both('sdkImportMap', 'An import map with the integrity of the SDK’s modules'),
  }
}

/** The page that leads visitors to a site. Paths and queries below it are those of the site. */
function goPaths(): Record<string, JsonSchema> {
  const responses = {
    302: { description: 'The site, at this relay or at another one.' },
    403: { description: 'The operator banned or denied the site here.' },
    404: { description: 'No identity has such a label, or this relay does not have discovery.' },
    429: { description: 'A page that asks to come back: too many searches.' },
    503: { description: 'A page that looks again from time to time: no relay that was asked has the site.' },
  }
  const summary = 'Leads a visitor to a relay that has the site now'
  const site = { name: 'site', in: 'path', required: true, schema: { type: 'string' } }
  return {
    [`${PATH.go}{site}`]: {
      parameters: [{ ...site, description: '<name>-<address>, the first label of the canonical hostname.' }],
      get: { operationId: 'go', summary, security: [], responses },
      head: { operationId: 'goHead', summary, security: [], responses },
    },
  }
}

function operation(operationId: string, endpoint: AnyEndpoint): JsonSchema {
  const { summary, auth, body } = endpoint
  return {
    operationId,
    summary,
    security: SECURITY[auth],
    ...parametersOf(endpoint),
    ...(body !== undefined && {
      requestBody: { required: true, description: sizeOf(body), content: contentOf(body) },
    }),
    responses: responses(endpoint),
  }
}

function sizeOf(body: EndpointBody<unknown>): string {
  const { maxBytes } = body
  const withTokenMaxBytes = body.kind === 'json' ? body.withTokenMaxBytes : undefined
  if (withTokenMaxBytes === undefined) return `At most ${maxBytes} bytes.`
  return `At most ${withTokenMaxBytes} bytes; \`access_token\` comes within the first ${maxBytes}.`
}

function contentOf(body: EndpointBody<unknown>): Content {
  return body.kind === 'json' ? json(referenceTo(body.schema)) : { [body.mediaType]: {} }
}

function parametersOf({ isKept, isPaged, query }: AnyEndpoint): { parameters?: JsonSchema[] } {
  const parameters = [
    ...(query ? [requiredQuery(query)] : []),
    ...(isPaged ? [AFTER] : []),
    ...(isKept ? [IF_NONE_MATCH] : []),
  ]
  return parameters.length > 0 ? { parameters } : {}
}

function requiredQuery({ name, description, pattern }: NonNullable<AnyEndpoint['query']>): JsonSchema {
  return { name, in: 'query', required: true, description, schema: { type: 'string', pattern } }
}

function headOperation(name: string, endpoint: AnyEndpoint): JsonSchema {
  const { summary, auth } = endpoint
  const responses = { 200: { description: 'The headers alone.' }, 304: NOT_MODIFIED }
  return {
    operationId: `${name}Head`,
    summary,
    security: SECURITY[auth],
    ...parametersOf(endpoint),
    responses,
  }
}

function responses(endpoint: AnyEndpoint): Record<string, Answer> {
  const answers: Record<string, Answer> = { [endpoint.status]: success(endpoint) }
  if (endpoint.pending) answers[202] = enveloped(endpoint.pending)
  if (endpoint.isKept) answers[304] = NOT_MODIFIED
  for (const [status, codes] of codesByStatus(endpoint)) {
    const enveloped = { allOf: [referenceTo(failed), only(codes)] }
    const isBareToo = endpoint.bareFailures?.includes(status) === true
    const isPlainToo = endpoint.plainFailures?.includes(status) === true
    answers[status] = {
      description: codes.map((code) => `\`${code}\``).join(', '),
      content: {
        ...json(isBareToo ? { oneOf: [enveloped, referenceTo(signFailure)] } : enveloped),
        ...(isPlainToo && { 'text/plain': {} }),
      },
    }
  }
  for (const status of endpoint.bareFailures ?? [])
    answers[status] ??= {
      description: 'An error without the envelope.',
      content: json(referenceTo(signFailure)),
    }
  return answers
}

function success({ data, bare }: AnyEndpoint): Answer {
  if (data === undefined && bare === undefined) return { description: 'The connection is upgraded.' }
  const schema = data && referenceTo(data)
  if (bare !== undefined)
    return { description: 'Without the envelope.', content: { [bare]: schema ? { schema } : {} } }
  return enveloped(data!)
}

function enveloped(data: z.ZodType<unknown>): Answer {
  return {
    description: 'In the envelope.',
    content: json({
      type: 'object',
      properties: { ok: { const: true }, data: referenceTo(data) },
      required: ['ok', 'data'],
    }),
  }
}

/** Groups error codes by status. `unauthorized` is 401 on the admin and policy endpoints. */
function codesByStatus({ errors, path }: AnyEndpoint): Map<number, ErrorCode[]> {
  const codes = new Map<number, ErrorCode[]>()
  for (const code of [...new Set([...errors, 'internal' as const])]) {
    const isAdmin = code === 'unauthorized' && path.startsWith('/api/')
    const status = isAdmin ? UNAUTHORIZED : ERROR_STATUS[code]
    codes.set(status, [...(codes.get(status) ?? []), code])
  }
  return codes
}

function only(codes: ErrorCode[]): JsonSchema {
  return { properties: { error: { properties: { code: { enum: codes } } } } }
}

function json(schema: JsonSchema): Content {
  return { 'application/json': { schema } }
}
