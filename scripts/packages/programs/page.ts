// A program of a page that uses each entry of @svc/sdk-browser for pages: it is type-checked where the tarballs are installed.
import { type PublishOptions, publish, type Site, SvcError } from '@svc/sdk-browser'
import { installGlobals } from '@svc/sdk-browser/globals'
import { type FileSource, files } from '@svc/sdk-browser/handlers'

export async function share(relay: string, source: FileSource): Promise<string> {
  installGlobals()
  const options: PublishOptions = {
    relay,
    name: 'demo',
    fetch(request, info) {
      if (request.headers.get('upgrade') === null) return files(source)(request, info)
      const { socket, response } = info.upgrade(request)
      socket.onmessage = ({ data }) => socket.send(data)
      return response
    },
  }
  const site: Site = await publish(options)
  site.addEventListener('error', ({ error }) => console.error(error instanceof SvcError ? error.code : error))
  return site.url
}
