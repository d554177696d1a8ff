/** Plays a keeper of another version, that speaks another protocol. */
import { keep } from '../../src/keeper/keep.ts'

await keep({ folder: process.argv[2]!, protocol: 7 })
