// The hello page: publishes itself when it opens, counts its visitors and lists what they asked for.
import { publish } from '@svc/sdk-browser'
import { element } from '../shared/dom.ts'
import { friendlyNames } from '../shared/name.ts'
import { showSite } from '../shared/show-site.ts'
import { answer } from './answer.ts'
import { showGoLinks } from './go-links.ts'
import { listRequest } from './requests.ts'

let visits = 0

showSite(friendlyNames('hello'), ({ onSite, ...site }) =>
  publish({
    relay: location.origin,
    fetch: handle,
    ...site,
    onSite: (begun) => {
      onSite(begun)
      showGoLinks(begun)
    },
  }),
)

function handle(request: Request): Response {
  const { response, isVisit } = answer(request, visits)
  if (isVisit) visits += 1
  element('visits').textContent = String(visits)
  listRequest(request)
  return response
}
