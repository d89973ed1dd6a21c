import { readTrace } from '../../browser/read-trace.js'
import { serve } from './serve.js'

serve(readTrace)
