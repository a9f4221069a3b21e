// Order of the list of rows: by place, then by row.
bool precedes(uvec2 a, uvec2 b) {
    return a.x < b.x || (a.x == b.x && a.y < b.y);
}
