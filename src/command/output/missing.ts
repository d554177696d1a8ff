import { codeOf } from '../../base/error-text.ts'
/** What a file operation gives, or null if the file or its folder is not there (any more). */
export async function orMissing<Found>(operation: Promise<Found>): Promise<Found | null> {
  try {
    return await operation
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
