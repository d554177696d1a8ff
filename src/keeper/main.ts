/** The keeper: `node main.ts <home folder>`. Started by a daemon, in a session of its own. */
import { closeInherited, inheritedFds } from '../os/inherited-fds.ts'
import { keep } from './keep.ts'

const folder = process.argv[2]
if (folder === undefined) {
  console.error('Usage: main.ts <home folder>')
  process.exit(64)
}
closeInherited(inheritedFds())
await keep({ folder })
