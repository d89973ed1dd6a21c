import { formatFrame, parseFrame, shortFrame } from '../event/frame.js'
import { shortName } from './short-name.js'
import { shortPaths } from './short-paths.js'

/** The forms in which a frame is shown: with a short name; the whole name; the short name and the address; all. */
export const DETAILS = 4

/** The texts of the frames of one table, in each detail. */
export class FrameLabels {
  /** The texts in each detail. */
  private readonly known = Array.from({ length: DETAILS }, () => new Map<string, string>())
  private readonly files: ReadonlyMap<string, string>
  private readonly modules: ReadonlyMap<string, string>

  /**
   * @param frames all frames that may be shown: their paths lose what they have in common
   * @param full shows whole names and paths in the first detail, too
   */
  constructor(
    frames: Iterable<string>,
    private readonly full: boolean,
  ) {
    const files = new Set<string>()
    const modules = new Set<string>()
    if (!full) {
      for (const text of new Set(frames)) {
        const { file, module } = parseFrame(text)
        if (file !== undefined) files.add(file)
        if (module !== undefined) modules.add(module)
      }
    }
    // A program is often built in another folder than its sources'.
    this.files = shortPaths(files)
    this.modules = shortPaths(modules)
  }

  /** A frame in some detail, from 0 to `DETAILS` - 1. */
  text(frame: string, detail: number): string {
    if (detail === DETAILS - 1) return frame
    if (this.full && detail === 0) return shortFrame(frame)
    const known = this.known[detail]
    let text = known.get(frame)
    if (text === undefined) known.set(frame, (text = this.make(frame, detail)))
    return text
  }

  /** Only the name of a frame. */
  name(frame: string): string {
    const { function: name } = parseFrame(frame)
    return name === undefined ? this.text(frame, 0) : this.full ? name : shortName(name)
  }

  /** A frame in little room: with a short name, and its file without folders. */
  brief(frame: string): string {
    const { function: name, file, line } = parseFrame(frame)
    if (name === undefined || file === undefined) return this.text(frame, 0)
    const place = { file: file.slice(file.lastIndexOf('/') + 1), ...(line !== undefined && { line }) }
    return formatFrame({ function: shortName(name), ...place })
  }

  private make(text: string, detail: number): string {
    const { function: name, file, module, ...frame } = parseFrame(text)
    const parts = {
      ...frame,
      ...(name !== undefined && { function: detail === 1 ? name : shortName(name) }),
      ...(file !== undefined && { file: this.files.get(file) ?? file }),
      ...(module !== undefined && { module: this.modules.get(module) ?? module }),
    }
    return detail === 2 ? formatFrame(parts) : shortFrame(formatFrame(parts))
  }
}
