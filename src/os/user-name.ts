import { userInfo } from 'node:os'

/** The name of the user that this program runs as; `uid-<number>` if the machine has no name for it, as in some containers. */
export function userName(): string {
  try {
    const { username } = userInfo()
    if (username !== '') return username
  } catch {
    // The user database has no such user.
  }
  return `uid-${process.getuid?.() ?? 'unknown'}`
}
