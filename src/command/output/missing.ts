/** What a file operation gives, or null if the file or its folder is not there (any more). */
export async function orMissing<Found>(operation: Promise<Found>): Promise<Found | null> {
  try {
    return await operation
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
