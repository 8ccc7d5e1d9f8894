// A page for visitors, in one response: nothing of others is loaded, and nothing runs that was not put there.

export interface HtmlPage {
  title: string
  /** The page's style sheet. */
  style: string
  /** HTML: text that a person wrote has to be escaped. */
  main: string
  /** A module that runs in the page. */
  script?: string | undefined
}

export function htmlPage({ title, style, main, script }: HtmlPage): Response {
  const nonce = crypto.randomUUID()
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style nonce="${nonce}">${style}</style>
<main>
${main}
</main>
${script === undefined ? '' : `<script type="module" nonce="${nonce}">${script.replaceAll('</', '<\\/')}</script>`}
</html>
`
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src ${
      script === undefined ? "'none'" : `'nonce-${nonce}'`
    }; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    'Content-Type': 'text/html; charset=utf-8',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
  return new Response(html, { headers })
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
