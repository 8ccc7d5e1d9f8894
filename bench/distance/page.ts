// The page that publishes over a distance; bench/distance/family.ts calls it there.
import { publish, type Site } from '@svc/sdk-browser'
import { galleryHtml, image, PATH } from '../http/work.ts'

export interface DistancePage {
  /** @returns milliseconds until the site was online, and its URL */
  online(relay: string, name: string, http2: boolean): Promise<{ ms: number; url: string }>
  close(): Promise<void>
}

declare global {
  var distanceBench: DistancePage
}

let site: Site | undefined

globalThis.distanceBench = {
  online: async (relay, name, http2) => {
    const start = performance.now()
    site = await publish({ relay, name, http2, fetch: answer })
    return { ms: performance.now() - start, url: site.url }
  },
  close: async () => await site?.close(),
}

function answer(request: Request): Response {
  const { pathname } = new URL(request.url)
  if (pathname === PATH.gallery)
    return new Response(galleryHtml(), { headers: { 'Content-Type': 'text/html' } })
  if (pathname === '/') return new Response('here')
  return new Response(image(pathname), { headers: { 'Content-Type': 'image/bmp' } })
}
