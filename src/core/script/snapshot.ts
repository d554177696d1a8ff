/** The stored state of a script that waits: its whole VM, as a blob. It is tied to the program of the VM. */
export interface ScriptSnapshot {
  /** The blob with the compressed state. */
  readonly hash: string
  /** The size of that blob. */
  readonly bytes: number
  /** The hash of the VM's program: another version of it cannot read the state. */
  readonly engine: string
  /** The `seq` of the last event whose result the script has got. */
  readonly through: number
  /** How many calls it had made. */
  readonly calls: number
  /** The time that it sees. */
  readonly time: number
  /** The numbers of the calls that it waits for. */
  readonly pending: readonly number[]
}

/** A larger state is not stored: the script runs again from its first line, and its calls are answered from the log. */
export const MAX_SNAPSHOT_BYTES = 1024 * 1024
