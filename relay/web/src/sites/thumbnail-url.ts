// Checks that a lease's thumbnail is a picture that the page may show.

/** Data URLs of image types. An image element runs no script of them and loads none of their references. */
const IMAGE_DATA_URL = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i

/** @returns an image as a data URL; undefined for everything else: another host would learn who looks at the list */
export function thumbnailUrl(thumbnail: string | undefined): string | undefined {
  return thumbnail !== undefined && IMAGE_DATA_URL.test(thumbnail) ? thumbnail : undefined
}
