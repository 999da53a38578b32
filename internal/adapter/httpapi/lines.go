package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// lineReader reads lines of bounded length and counts them from 1.
type lineReader struct {
	from   *bufio.Reader
	number int
	line   []byte
	repeat bool
}

// next returns the next line, without its end and the space around it. io.EOF
// comes after the last. The line is valid until the next call.
func (l *lineReader) next() (line []byte, number int, err error) {
	if l.repeat {
		l.repeat = false
		return l.line, l.number, nil
	}
	l.line = l.line[:0]
	for {
		part, err := l.from.ReadSlice('\n')
		if len(l.line)+len(part) > MaxLine {
			return nil, 0, wrong(http.StatusRequestEntityTooLarge, codeTooLarge, "line "+strconv.Itoa(l.number+1), "",
				"at most "+strconv.Itoa(MaxLine)+" bytes")
		}
		l.line = append(l.line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(l.line) == 0):
			return nil, 0, err
		}
		l.number++
		l.line = bytes.TrimSpace(l.line)
		return l.line, l.number, nil
	}
}

// again has the last line read once more.
func (l *lineReader) again() { l.repeat = true }
