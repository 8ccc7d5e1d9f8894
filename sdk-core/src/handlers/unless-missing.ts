// Names that a folder does not have.

/**
 * Resolves with undefined for a name that is missing, is of the other kind, or is invalid (TypeError). A lost
 * permission is an error.
 */
export async function unlessMissing<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find()
  } catch (error) {
    const { name } = error as Partial<Error>
    if (['NotFoundError', 'TypeMismatchError', 'TypeError'].includes(name ?? '')) return undefined
    throw error
  }
}
