/**
 * Imported first by every entry point, and by itself: the rest needs built-in modules that an older Node does not
 * have, and without this check the error would be about them.
 */
const NEEDED = 24
const { node } = process.versions

if (Number(node.split('.')[0]) < NEEDED) {
  throw new Error(
    `Reeve needs Node ${NEEDED} or newer, and this is Node ${node}. ` +
      'On Linux one came with the package: start your program with `npx node`. Elsewhere install it.',
  )
}
