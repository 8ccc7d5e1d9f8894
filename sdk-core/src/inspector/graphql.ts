// GraphQL over HTTP: the operations in a JSON content.

import type { GraphqlView } from './messages.ts'

/** The most operations of one batch. */
const OPERATIONS_MAX = 50
/** A document that begins with an operation, or with its selection alone. */
const DOCUMENT = /^(?:\s|,|#[^\n]*\n)*(?:(query|mutation|subscription)\b|fragment\b|\{)/
const NAMED = /(?:^|[}\s])(query|mutation|subscription)\s+([_A-Za-z]\w*)/g

/** @returns undefined for a JSON value that is no request of GraphQL */
export function graphqlOf(value: unknown): GraphqlView[] | undefined {
  const requests = Array.isArray(value) ? value.slice(0, OPERATIONS_MAX) : [value]
  const views = requests.map(viewOf)
  return views.length > 0 && views.every((view) => view !== undefined) ? views : undefined
}

function viewOf(request: unknown): GraphqlView | undefined {
  if (typeof request !== 'object' || request === null) return undefined
  const { query, operationName, variables } = request as Record<string, unknown>
  if (typeof query !== 'string') return undefined
  const kind = DOCUMENT.exec(query)
  if (!kind) return undefined
  const all = [...query.matchAll(NAMED)]
  const chosen = all.find(([, , name]) => name === operationName) ?? all[0]
  const operation = (chosen?.[1] ??
    kind[1] ??
    (kind[0].endsWith('{') ? 'query' : 'unknown')) as GraphqlView['operation']
  const name = typeof operationName === 'string' ? operationName : chosen?.[2]
  return {
    operation,
    query,
    ...(name !== undefined && { name }),
    ...(typeof variables === 'object' &&
      variables !== null && { variables: JSON.stringify(variables, null, 2) }),
  }
}
