// Checks that a lease's thumbnail is a URL that an image element may load.

/** Data URLs of image types. An image element runs no script of them and loads none of their references. */
const IMAGE_DATA_URL = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i

/** @returns an image as a data URL, or an HTTPS URL; undefined for everything else */
export function thumbnailUrl(thumbnail: string | undefined): string | undefined {
  if (thumbnail === undefined) return undefined
  if (IMAGE_DATA_URL.test(thumbnail)) return thumbnail
  const url = URL.parse(thumbnail)
  return url?.protocol === 'https:' ? url.href : undefined
}
