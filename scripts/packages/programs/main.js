// The page of the proof with bundlers: it publishes, and answers requests and WebSockets.
import { publish } from '@svc/sdk-browser'

const query = new URLSearchParams(location.search)
const name = query.get('name')

publish({
  relay: query.get('relay'),
  name,
  fetch(request, info) {
    if (request.headers.get('upgrade') === null) return new Response(`from ${name}`)
    return info.upgrade(request).response
  },
}).then(
  (site) => {
    document.title = site.url
  },
  (error) => {
    document.title = `failed: ${error.message}`
  },
)
