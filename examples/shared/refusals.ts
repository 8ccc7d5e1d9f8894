// What visitors of the examples get where there is nothing for them: a document in a browser, a line for a program.
import { say } from '@svc/relay-web/common/document-answers.ts'

export { say } from '@svc/relay-web/common/document-answers.ts'

export function notFound(request: Request): Response {
  return say(request, 404, 'Not found', {
    next: 'This site has nothing at this address. It begins at its first page.',
  })
}

export function onlyGet(request: Request): Response {
  return say(request, 405, 'Only GET and HEAD', {
    headers: { Allow: 'GET, HEAD' },
    next: 'This page cannot be sent anything. Go back, or begin at the first page.',
  })
}
