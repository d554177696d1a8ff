import type { Wire } from '../../../mcp/clients/model/wire.ts'

/** An outside agent from npm, as a person has it on the PATH. */
export interface RealAgent {
  /** What `--with` calls it. */
  readonly name: string
  /** The command that Reeve looks for on the PATH. */
  readonly command: string
  /** Its program, and others that it needs, below the node_modules of the clients. */
  readonly programs: readonly [string, ...string[]]
  readonly wire: Wire
  /** A call of its own shell, which it asks a person about. */
  shell(run: string): { readonly tool: string; readonly input: object }
  /** Its choice that allows one call. */
  readonly allow: string
  /** Variables that keep its files in `home`, and its traffic on this machine. */
  env(home: string, programs: readonly string[]): Readonly<Record<string, string>>
  /** Signs it in with a scripted model, in its own files: Reeve withholds keys that are variables from commands. */
  signIn(home: string, modelUrl: string): void
  /** How the first turn of a person ends who has not signed in; null if it needs no sign-in. */
  readonly signedOut: RegExp | null
}
