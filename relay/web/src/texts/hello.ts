// Texts that visitors of the hello page read.

export const HELLO = {
  title: (visit: number): string => `Hello, visitor ${visit}`,
  about: "A tab in somebody's browser wrote this page for you.",
  notFound: 'Not found\n',
  onlyGet: 'Only GET and HEAD\n',
} as const
