import { codeOf } from '../../base/error-text.ts'
/** The result of a file operation, or null if the file or its folder does not exist (any more). */
export async function orMissing<Found>(operation: Promise<Found>): Promise<Found | null> {
  try {
    return await operation
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
