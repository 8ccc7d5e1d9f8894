// Shows the image of a site, or the first letter of its name without an image.
import { useState, type VNode } from '../preact.ts'
import { thumbnailUrl } from './thumbnail-url.ts'

export function Thumbnail({ name, thumbnail }: { name: string; thumbnail: string | undefined }): VNode {
  const [failed, setFailed] = useState<string | undefined>(undefined)
  const picture = thumbnailUrl(thumbnail)
  if (picture === undefined || picture === failed)
    return (
      <span class="thumbnail" aria-hidden="true">
        {name.slice(0, 1)}
      </span>
    )
  return (
    <img
      class="thumbnail"
      src={picture}
      alt=""
      loading="lazy"
      decoding="async"
      referrerpolicy="no-referrer"
      onError={() => setFailed(picture)}
    />
  )
}
