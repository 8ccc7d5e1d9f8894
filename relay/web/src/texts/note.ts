// Texts that visitors of the note read.

export const NOTE = {
  visitor: (visit: number): string =>
    `You are visitor ${visit}. This page came straight from somebody’s browser tab.`,
  notFound: 'Not found\n',
  onlyGet: 'Only GET and HEAD\n',
} as const
