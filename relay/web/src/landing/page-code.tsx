// The code that publishes from any page: one line that imports the SDK from this relay, or an import map that
// pins each of its files.
import { PATH } from '@svc/protocol'
import { CopyButton } from '../common/copy-button.tsx'
import { useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'

/** The visible lines of the code with its import map. */
const PINNED_ROWS = 12
const ENTRY = `${location.origin}${PATH.sdkEntry}`

export const pageCode: string = moduleThatImports(ENTRY)

/** The import map is long and rarely used, so it is loaded when opened. */
export function Pinned(): VNode {
  const [code, setCode] = useState('')
  const [error, setError] = useState('')
  const load = async (): Promise<void> => {
    if (code !== '') return
    setError('')
    try {
      setCode(await pinnedCode())
    } catch {
      setError(LANDING.noPins)
    }
  }
  return (
    <details onToggle={load}>
      <summary>{LANDING.pinTitle}</summary>
      <p class="quiet">{LANDING.pinAbout}</p>
      <p class="error" role="alert">
        {error}
      </p>
      {code !== '' && (
        <div>
          <CopyButton text={code} label={LANDING.copyPinned} />
          <textarea class="pins" aria-label={LANDING.pinnedCode} readOnly wrap="off" rows={PINNED_ROWS}>
            {code}
          </textarea>
        </div>
      )}
    </details>
  )
}

/** @throws Error when the relay does not answer, or has no SDK */
async function pinnedCode(): Promise<string> {
  const response = await fetch(PATH.sdkImportMap)
  if (!response.ok) throw new Error(await response.text())
  const map = (await response.text()).trim()
  const [name = ''] = Object.keys(JSON.parse(map).imports)
  return `<script type="importmap">\n${map}\n</script>\n${moduleThatImports(name)}`
}

/** The code sets no name, so that everyone who copies it gets a site with a different one. */
function moduleThatImports(specifier: string): string {
  return `<script type="module">
import { publish } from '${specifier}'

try {
  const site = await publish({
    relay: '${location.origin}',
    fetch: (request) => new Response('Hello\\n'),
  })
  document.body.append(site.url)
} catch (error) {
  document.body.append(String(error))
}
</script>`
}
