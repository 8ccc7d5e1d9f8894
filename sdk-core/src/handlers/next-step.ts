// What a person can do about a site's answer that is an error: the visitor, or else the owner of the site.

const FIRST_PAGE = 'Check the address, or begin at the first page of this site.'
const NEXT: Readonly<Record<number, string>> = {
  401: 'Only those come in to whom the owner of this site gave a password or a token.',
  403: 'The owner of this site decides what is open.',
  405: 'This address does not take what your browser sent. Go back, or begin at the first page of this site.',
  408: 'The connection may be slow. Try again.',
  413: 'What you sent is larger than this site takes. Send less at once.',
  414: 'Use a shorter address, or begin at the first page of this site.',
  421: 'Your browser asked for another site over this connection. Check the address, and load the page again.',
  426: 'Only a program can open it. The first page of this site may have one.',
  429: 'Wait a little, and try again.',
  431: 'Most of it is cookies. Delete those of this site in your browser, and load the page again.',
  500: 'Try again later. If the site is yours: the reason is shown where you published it, and not to visitors.',
  502: 'Try again in a moment. If the site is yours: look at the server behind it, and at what published it.',
  503: 'Try again in a moment.',
  504: 'Try again in a moment. If the site is yours: it has a limit of time, which this page took too long for.',
}

/** Returns a sentence or two. */
export function nextStep(status: number): string {
  return NEXT[status] ?? FIRST_PAGE
}
